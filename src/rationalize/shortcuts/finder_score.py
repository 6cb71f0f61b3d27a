"""How well the finder reads: a model that guesses the label has nothing to say about what gives it away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from rationalize.inference.engine import Engine
from rationalize.types import Example

Z = 1.96  # 95 % of a normal distribution


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
    low, high = find_interval(hits, len(labeled))
    return FinderScore(len(labeled), hits / len(labeled), low, high, commonest / len(labeled))


def find_interval(hits: int, n: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share, which holds near 0 and 1 and for few examples too."""
    share, slack = hits / n, Z**2 / n
    middle = (share + slack / 2) / (1 + slack)
    reach = Z * sqrt(share * (1 - share) / n + slack / n / 4) / (1 + slack)
    return max(middle - reach, 0.0), min(middle + reach, 1.0)
