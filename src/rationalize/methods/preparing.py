"""What a method may use before it trains, and what it gives back. Whoever runs methods provides it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from rationalize.config import FinderConfig, ShortcutsConfig
from rationalize.text.words import WordRule
from rationalize.types import Example

if TYPE_CHECKING:
    from rationalize.methods.base import Method
    from rationalize.text.windows import TextEncoder


@dataclass(frozen=True)
class Additions:
    """What joins the data of a run.

    Attributes:
        examples: More training examples, whose gold rationale may be used.
        environments: A number for every training example and augmented copy, by id.
        notes: What a user should know about it, in plain sentences.
    """

    examples: tuple[Example, ...] = ()
    environments: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class Reader(Protocol):
    """Another method, trained, and what turns texts into its input."""

    @property
    def method(self) -> Method:
        """The method."""
        ...

    @property
    def text(self) -> TextEncoder:
        """How it reads."""
        ...


class Workbench(Protocol):
    """The examples of a run, and the means to make artifacts of them."""

    @property
    def train(self) -> tuple[Example, ...]:
        """Training examples; those outside `gold_ids` have no rationale."""
        ...

    @property
    def augmented(self) -> tuple[Example, ...]:
        """Augmented copies of training examples."""
        ...

    @property
    def gold_ids(self) -> tuple[str, ...]:
        """Training examples whose gold rationale may be used."""
        ...

    @property
    def words(self) -> WordRule:
        """What a word is in the examples."""
        ...

    @property
    def seed(self) -> int:
        """The run's seed."""
        ...

    @property
    def shortcuts(self) -> ShortcutsConfig:
        """The run's settings of discovery, with those of its finder."""
        ...

    def train_method(self, method: str, name: str, options: FinderConfig, epochs: int | None) -> Reader:
        """Train another method on the training examples with the run's settings, and keep it under a name."""
        ...

    def keep_examples(self, name: str, make: Callable[[], Iterable[Example]]) -> tuple[Example, ...]:
        """Examples of an artifact, made only if it is not there."""
        ...

    def keep_facts(self, name: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """JSON of an artifact, made only if it is not there."""
        ...

    def say(self, text: str) -> None:
        """Show something worth knowing."""
        ...
