"""Labels that a model doubts: probable errors, the most doubtful first, for people to look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from rationalize.files import JsonObject
from rationalize.studio._decisions import Suggestion
from rationalize.studio.pool import Pool


@dataclass(frozen=True, slots=True)
class LabelDoubt:
    """A text whose label a model would not have given.

    Attributes:
        number: The text.
        id: Its id.
        text: The text itself.
        label: The label that it has.
        predicted: The model's.
        margin: How much more probable the model finds its own label, 0 to 1.
        disputed: Whether the rationale alone and the full text give different labels; then the model is weak here.
    """

    number: int
    id: str
    text: str
    label: str
    predicted: str
    margin: float
    disputed: bool

    def to_dict(self) -> JsonObject:
        """Return plain values, ready for JSON."""
        return {name: value for name, value in asdict(self).items() if name != "number"}


def find_doubts(pool: Pool, suggestions: Mapping[int, Suggestion]) -> list[LabelDoubt]:
    """Find the texts that a model labels otherwise: where its two readings agree first, then by margin."""
    found = []
    for number, each in suggestions.items():
        example = pool[number]
        if example.label is None or example.label == each.label:
            continue
        own = each.probabilities.get(example.label, 0.0)
        margin = each.probabilities[each.label] - own
        found.append(
            LabelDoubt(number, example.id, example.text, example.label, each.label, margin, each.disputed)
        )
    return sorted(found, key=lambda doubt: (doubt.disputed, -doubt.margin, doubt.number))
