"""What a method may use before it trains, and what it returns. The code that runs methods implements it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
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
    """What a method adds to a run's data.

    Attributes:
        examples: More training examples, whose gold rationale may be used.
        environments: The environment of every training example and augmented copy, by id.
        notes: What a user should know about the additions, in plain sentences.
    """

    examples: Sequence[Example] = ()
    environments: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class Reader(Protocol):
    """Another method, trained, and the encoder of its texts."""

    @property
    def method(self) -> Method:
        """The trained method."""
        ...

    @property
    def text(self) -> TextEncoder:
        """Turns texts into its input."""
        ...


class Workbench(Protocol):
    """The examples of a run, and the means to make artifacts from them."""

    @property
    def train(self) -> Sequence[Example]:
        """Training examples; those outside `gold_ids` have no rationale."""
        ...

    @property
    def augmented(self) -> Sequence[Example]:
        """Augmented copies of training examples."""
        ...

    @property
    def gold_ids(self) -> tuple[str, ...]:
        """Training examples whose gold rationale may be used."""
        ...

    @property
    def words(self) -> WordRule:
        """The rule that splits the examples into words."""
        ...

    @property
    def seed(self) -> int:
        """The run's seed."""
        ...

    @property
    def shortcuts(self) -> ShortcutsConfig:
        """The run's shortcut settings, with those of its finder."""
        ...

    def train_method(self, method: str, name: str, options: FinderConfig, epochs: int | None) -> Reader:
        """Train another method on the training examples with the run's settings, and keep it under a name."""
        ...

    def keep_examples(self, name: str, make: Callable[[], Iterable[Example]]) -> Sequence[Example]:
        """Read the examples of an artifact; make it first if it is missing."""
        ...

    def keep_facts(self, name: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Read the JSON of an artifact; make it first if it is missing."""
        ...

    def show(self, text: str) -> None:
        """Show a line of text."""
        ...
