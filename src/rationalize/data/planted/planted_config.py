"""Settings of the planted corpus."""

from __future__ import annotations

from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from rationalize.config import Share, Strict
from rationalize.data.dataset import normalize_split

SIZES = MappingProxyType({"train": 2000, "dev": 300, "test": 400, "ood": 400})

Split = Annotated[str, Field(pattern=f"^({'|'.join(SIZES)})$")]
Size = Annotated[int, Field(ge=2)]
Label = Literal["NEG", "POS"]


class PlantedConfig(Strict):
    """Size, shortcut and noise of the corpus."""

    seed: Annotated[int, Field(ge=0)] = 0
    """The corpus is a function of it and of the rest."""
    sizes: dict[Split, Size] = Field(default_factory=lambda: dict(SIZES), min_length=1)
    """Documents in each split: train, dev, test, ood, or some of them."""
    correlation: Share = 0.9
    """Share of documents whose shortcut agrees with the label, 1 - correlation in ood; 0.5: no shortcut."""
    two_shortcuts: Share = 0.1
    """Chance of a second shortcut phrase, of the same side as the first."""
    minority: Share = 0.15
    """Chance of one opinion of the author against the label."""
    mild: Share = 0.4
    """Share of opinion phrases in mild words, which both sides use alike."""
    hearsay: Share = 0.25
    """Chance of each of two opinions of other people, of either side whatever the label."""
    new_words: Share = 0.25
    """Share of ood's opinion phrases, mild ones aside, in words that no other split uses."""
    gold_classes: tuple[Label, ...] = Field(default=("NEG", "POS"), min_length=1)
    """Labels whose documents have gold; those of the others were looked at, and nothing was marked."""

    @field_validator("sizes", mode="before")
    @classmethod
    def _name_splits(cls, sizes: Any) -> Any:
        return (
            {normalize_split(str(name)): size for name, size in sizes.items()}
            if isinstance(sizes, dict)
            else sizes
        )
