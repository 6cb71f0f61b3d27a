"""How well the finder reads: a model that guesses the label has nothing to say about what gives it away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rationalize.inference.engine import Engine
from rationalize.metrics.intervals import wilson
from rationalize.types import Example


@dataclass(frozen=True, slots=True)
class FinderScore:
    """The finder's label on dev, which it did not learn from.

    Attributes:
        n: Number of examples.
        accuracy: Share of right labels.
        low: Lower end of the 95 % interval of that share (Wilson).
        high: Its upper end.
        majority: Share of the commonest label.
    """

    n: int
    accuracy: float
    low: float
    high: float
    majority: float

    @property
    def is_chance(self) -> bool:
        """Whether always saying the commonest label may well be as good."""
        return self.low <= self.majority


def score_finder(finder: Engine, examples: Sequence[Example]) -> FinderScore | None:
    """Compare the finder's labels with the true ones; None without any."""
    labeled = [example for example in examples if example.label is not None]
    if not labeled:
        return None
    pairs = zip(labeled, finder.explain(labeled), strict=True)
    hits = sum(item.explanation.label == example.label for example, item in pairs)
    commonest = max(Counter(example.label for example in labeled).values())
    accuracy = hits / len(labeled)
    likely = wilson(accuracy, len(labeled))
    return FinderScore(len(labeled), accuracy, likely.low, likely.high, commonest / len(labeled))
