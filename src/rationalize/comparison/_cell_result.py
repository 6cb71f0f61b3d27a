"""The result of a finished cell: all numbers that tables need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

from rationalize.evaluation.evaluation import Evaluation
from rationalize.evaluation.scoring import to_instances
from rationalize.files import JsonObject
from rationalize.inference.engine import Explained
from rationalize.metrics.instance import ScoredInstance
from rationalize.metrics.tokens import token_counts

PerExample = tuple[float | None, ...]
"""One number per example; None if undefined."""


@dataclass(frozen=True)
class CellFacts:
    """A cell's identity: its key, the plan's name for the method, and the settings that name table rows."""

    key: str
    name: str
    data: str
    seed: int
    method: str
    supervision: str
    augment: str
    augment_share: float
    gold_share: float
    uniform_weight: float


@dataclass(frozen=True)
class Seconds:
    """How long a cell took."""

    training: float
    scoring: float

    @property
    def total(self) -> float:
        """Training and scoring together."""
        return self.training + self.scoring


@dataclass(frozen=True)
class Sizes:
    """How many examples a cell has.

    Attributes:
        train: Those that it was trained on.
        gold: Those among them that have a gold rationale.
        scored: Those that it was scored on.
    """

    train: int
    gold: int
    scored: int


@dataclass(frozen=True)
class Identity:
    """Everything a result depends on.

    Attributes:
        config: The settings.
        data: Hash of the data that it was trained on.
        scored_on: Hash of the examples that it was scored on.
        truncate: Whether only what fits the encoder was read.
        faithfulness: How words were removed to measure it; none: it was not measured.
        faithfulness_limit: How many examples it was measured on; None: all.
    """

    config: Mapping[str, Any]
    data: str
    scored_on: str
    truncate: bool
    faithfulness: str
    faithfulness_limit: int | None = None

    def to_dict(self) -> JsonObject:
        """Return plain values, ready for JSON, without an unset limit."""
        row = asdict(self)
        if self.faithfulness_limit is None:
            del row["faithfulness_limit"]
        return row


@dataclass(frozen=True)
class ExampleColumns:
    """Numbers of every example of a split, in order, for significance tests; no text.

    Attributes:
        correct: 1 where the label is right, else 0.
        token_f1: ERASER's token F1.
        shortcut_share: Shortcut words / selected words; 0 if nothing is selected.
    """

    correct: PerExample
    token_f1: PerExample
    shortcut_share: PerExample

    def to_dict(self) -> dict[str, list[float | None]]:
        """Return plain values, ready for JSON."""
        return {name: list(values) for name, values in asdict(self).items()}

    @classmethod
    def from_dict(cls, row: Mapping[str, Sequence[float | None]]) -> Self:
        """Rebuild it from what `to_dict` returned."""
        return cls(tuple(row["correct"]), tuple(row["token_f1"]), tuple(row["shortcut_share"]))

    @classmethod
    def of(cls, items: Sequence[Explained]) -> Self:
        """Compute the columns of explanations."""
        instances = [to_instances(item) for item in items]
        return cls(
            tuple(_score_label(each) for each in instances),
            tuple(_score_tokens(each) for each in instances),
            tuple(_measure_shortcut_share(each) for each in instances),
        )


@dataclass(frozen=True)
class CellResult:
    """A finished cell.

    Attributes:
        cell: What it is.
        seconds: How long it took.
        n: How many examples it had.
        environment: What it ran on.
        identity: What it depends on.
        results: Evaluations by split.
        examples: Columns of examples by split.
    """

    cell: CellFacts
    seconds: Seconds
    n: Sizes
    environment: Mapping[str, str | int]
    identity: Identity
    results: Mapping[str, Evaluation]
    examples: Mapping[str, ExampleColumns]

    def to_dict(self) -> JsonObject:
        """Return plain values, ready for JSON."""
        return {
            "cell": asdict(self.cell),
            "seconds": asdict(self.seconds),
            "n": asdict(self.n),
            "environment": dict(self.environment),
            "identity": self.identity.to_dict(),
            "results": {split: each.to_dict() for split, each in self.results.items()},
            "examples": {split: each.to_dict() for split, each in self.examples.items()},
        }

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Self:
        """Rebuild it from what `to_dict` returned."""
        return cls(
            cell=CellFacts(**row["cell"]),
            seconds=Seconds(**row["seconds"]),
            n=Sizes(**row["n"]),
            environment=row["environment"],
            identity=Identity(**row["identity"]),
            results={split: Evaluation.from_dict(each) for split, each in row["results"].items()},
            examples={split: ExampleColumns.from_dict(each) for split, each in row["examples"].items()},
        )


def _score_label(instances: Sequence[ScoredInstance]) -> int | None:
    gold = instances[0].gold_label
    return None if gold is None else int(instances[0].label == gold)


def _score_tokens(instances: Sequence[ScoredInstance]) -> float | None:
    """Average over documents; one with neither gold nor selected words does not count."""
    annotated = [each for each in instances if each.gold is not None]
    counts = [token_counts(each.gold_mask, each.selected) for each in annotated]
    scores = [2 * each.hits / (each.gold + each.predicted) for each in counts if each.gold + each.predicted]
    return round(sum(scores) / len(scores), 4) if scores else None


def _measure_shortcut_share(instances: Sequence[ScoredInstance]) -> float | None:
    """Return the shortcut share of the selected words; None if shortcuts are unknown."""
    known = [each for each in instances if each.shortcut_words is not None]
    counts = [token_counts(each.shortcut_words or (), each.selected) for each in known]
    selected = sum(each.predicted for each in counts)
    if not known:
        return None
    return round(sum(each.hits for each in counts) / selected, 4) if selected else 0.0
