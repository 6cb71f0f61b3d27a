"""The result of a model on a split: its numbers, those of trivial selectors, and the selector's health."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Self

from rationalize.files import JsonObject
from rationalize.metrics.confidence_scores import ConfidenceScores
from rationalize.metrics.health import SelectorHealth
from rationalize.metrics.named_metrics import Metrics, NamedMetrics, TrivialRow
from rationalize.metrics.significance import Interval

if TYPE_CHECKING:
    from rationalize.evaluation._faithfulness import Faithfulness
    from rationalize.evaluation.removal import Removal
    from rationalize.inference.engine import Explained

SCHEMA = 1


@dataclass(frozen=True)
class FaithfulnessFacts:
    """How faithfulness was measured.

    Attributes:
        removal: How words were removed.
        bins: Shares of the words that were removed and kept.
        n_examples: Number of examples.
        n_inputs_read: Number of distinct reduced inputs that the model read.
    """

    removal: Removal
    bins: tuple[float, ...]
    n_examples: int
    n_inputs_read: int

    def to_dict(self) -> JsonObject:
        """Return plain values, ready for JSON."""
        return asdict(self) | {"bins": list(self.bins)}

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Self:
        """Rebuild it from what `to_dict` returned."""
        return cls(row["removal"], tuple(row["bins"]), row["n_examples"], row["n_inputs_read"])


@dataclass(frozen=True)
class Evaluation(NamedMetrics):
    """The result of a model on a split. Its numbers are attributes: `evaluation.token_f1_eraser`.

    Attributes:
        split: Name of the split.
        method: Id of the method; None without examples.
        faithful: Whether labels depend on nothing but the selected words (and the query).
        labels: The classes.
        n_examples: Number of scored examples.
        metrics: Every number by its full name; `metrics.score_table` explains the names.
        trivial: The same numbers for trivial selectors, by selector.
        health: Whether the selector has collapsed.
        confusion: How often each true label was predicted as each label.
        oracle_label: Whether the selector was given the gold labels: then this is no fair comparison.
        intervals: 95 % intervals of task scores and token F1, by name; see `metrics.intervals`.
        faithfulness: How comprehensiveness and sufficiency were measured, if at all.
        confidence: How far the model's confidence can be trusted; None without labels.
        explained: Every explanation, in order; not kept in files.
        measured: The probabilities on reduced inputs; not kept in files.
    """

    split: str
    method: str | None
    faithful: bool | None
    labels: tuple[str, ...]
    n_examples: int
    metrics: Metrics
    trivial: Mapping[str, TrivialRow]
    health: SelectorHealth
    confusion: Mapping[str, Mapping[str, int]]
    oracle_label: bool = False
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    faithfulness: FaithfulnessFacts | None = None
    confidence: ConfidenceScores | None = None
    explained: tuple[Explained, ...] = field(default=(), repr=False, compare=False)
    measured: Faithfulness | None = field(default=None, repr=False, compare=False)

    def to_dict(self) -> JsonObject:
        """Return plain values, ready for JSON."""
        row = {
            "schema": SCHEMA,
            "split": self.split,
            "method": self.method,
            "faithful": self.faithful,
            "labels": list(self.labels),
            "n_examples": self.n_examples,
            "metrics": dict(self.metrics),
            "trivial": {name: each.to_dict() for name, each in self.trivial.items()},
            "health": self.health.to_dict(),
            "confusion": {truth: dict(counts) for truth, counts in self.confusion.items()},
        }
        row |= {"oracle_label": True} if self.oracle_label else {}
        if self.intervals:
            row["intervals"] = {name: [each.low, each.high] for name, each in self.intervals.items()}
        row |= {"confidence": self.confidence.to_dict()} if self.confidence else {}
        return row | ({"faithfulness": self.faithfulness.to_dict()} if self.faithfulness else {})

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Self:
        """Rebuild an evaluation from what `to_dict` returned; other keys are ignored."""
        facts = row.get("faithfulness")
        return cls(
            split=row["split"],
            method=row["method"],
            faithful=row["faithful"],
            labels=tuple(row["labels"]),
            n_examples=row["n_examples"],
            metrics=row["metrics"],
            trivial={name: TrivialRow.from_dict(each) for name, each in row["trivial"].items()},
            health=SelectorHealth.from_dict(row["health"]),
            confusion=row["confusion"],
            oracle_label=row.get("oracle_label", False),
            intervals={name: Interval(*ends) for name, ends in row.get("intervals", {}).items()},
            faithfulness=FaithfulnessFacts.from_dict(facts) if facts else None,
            confidence=ConfidenceScores.from_dict(sure) if (sure := row.get("confidence")) else None,
        )
