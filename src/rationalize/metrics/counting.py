"""Turn hits, gold units and predictions into precision, recall and F1. All ratios of this room are made here.

Two ways of averaging over instances are in use, and they differ: `instance_scores` (ERASER's token and
exact-span scores) and `matching_scores` (ERASER's IOU scores).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Counts(NamedTuple):
    """What one instance adds to a score: right predictions, gold units, predicted units."""

    hits: int
    gold: int
    predicted: int


@dataclass(frozen=True, slots=True)
class PRF:
    """Precision, recall and F1."""

    p: float
    r: float
    f1: float


@dataclass(frozen=True, slots=True)
class Scores:
    """`micro`: counts pooled over all instances. `macro`: averaged over instances."""

    micro: PRF
    macro: PRF


def ratio(part: float, whole: float) -> float | None:
    """Return `part / whole`, or None if `whole` is 0."""
    return part / whole if whole else None


def mean(values: Iterable[float]) -> float | None:
    """Return the plain mean, exact in any order; None for no values."""
    numbers = list(values)
    return ratio(math.fsum(numbers), len(numbers))


def harmonic(p: float, r: float) -> float:
    """Return the F1 of a precision and a recall; 0 if either is 0."""
    return 2 * p * r / (p + r) if p and r else 0.0


def prf(counts: Counts) -> PRF:
    """Return precision, recall and F1 of one set of counts; 0 without predictions (p) or without gold (r)."""
    p, r = ratio(counts.hits, counts.predicted) or 0.0, ratio(counts.hits, counts.gold) or 0.0
    return PRF(p, r, harmonic(p, r))


def pool(counts: Iterable[Counts]) -> Counts:
    """Sum the counts over all instances."""
    rows = list(counts)
    return Counts(*(sum(column) for column in zip(*rows))) if rows else Counts(0, 0, 0)


def instance_scores(counts: Iterable[Counts]) -> Scores | None:
    """Average as ERASER does for token and exact-span scores.

    Every instance with gold **or** a prediction counts; one that lacks either scores 0. Macro F1 is the mean
    of the instances' F1, not the F1 of mean precision and mean recall. None: no instance has either. Where
    ERASER divides by zero (nothing is predicted, or nothing is gold), the score is 0.
    """
    rows = _drop_empty(counts)
    each = [prf(row) for row in rows]
    if not each:
        return None
    macro = PRF(*(mean(getattr(one, part) for one in each) or 0.0 for part in ("p", "r", "f1")))
    return Scores(prf(pool(rows)), macro)


def matching_scores(counts: Iterable[Counts]) -> Scores | None:
    """Average as ERASER does for IOU scores.

    Macro precision is the mean over instances **with predictions**, macro recall over instances **with
    gold**, and macro F1 the harmonic mean of those two means. None: no instance has either.
    """
    rows = _drop_empty(counts)
    if not rows:
        return None
    p = mean(row.hits / row.predicted for row in rows if row.predicted) or 0.0
    r = mean(row.hits / row.gold for row in rows if row.gold) or 0.0
    return Scores(prf(pool(rows)), PRF(p, r, harmonic(p, r)))


def _drop_empty(counts: Iterable[Counts]) -> Sequence[Counts]:
    return [row for row in counts if row.gold or row.predicted]
