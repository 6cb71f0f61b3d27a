"""Is a difference more than chance? Paired tests over instances and over seeds, exact where n is small."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rationalize.errors import DataError
from rationalize.seeding import derive_seed

EXACT = 12  # up to this many pairs all 2^n sign flips are counted
DRAWS = 10_000
CHUNK = 500  # draws at a time, to keep memory small
ROUNDING = 1e-12

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """Where a mean, or a mean difference, lies with a probability of 95 %."""

    low: float
    high: float

    @property
    def margin(self) -> float:
        """Half the width: the number after ±."""
        return (self.high - self.low) / 2


def differences(ours: Sequence[float], theirs: Sequence[float]) -> Numbers:
    """Subtract theirs from ours, pair by pair."""
    if len(ours) != len(theirs) or not ours:
        raise DataError(
            f"paired test: got {len(ours)} and {len(theirs)} values, expected the same number, at least one."
        )
    gaps: Numbers = np.asarray(ours, dtype=float) - np.asarray(theirs, dtype=float)
    return gaps


def permutation_p(
    ours: Sequence[float], theirs: Sequence[float], *, seed: int = 0, draws: int = DRAWS
) -> float:
    """Return the two-sided p of the mean difference by random sign flips of the pairs' differences.

    Up to `EXACT` pairs, all flips are counted; beyond that, `draws` of them and the observed one.
    """
    given = differences(ours, theirs)
    observed = abs(given.sum()) - ROUNDING * (1 + np.abs(given).sum())
    if len(given) <= EXACT:
        bits = (np.arange(2 ** len(given))[:, None] >> np.arange(len(given))) & 1
        return float(np.mean(np.abs((1 - 2 * bits) @ given) >= observed))
    rng = np.random.default_rng(derive_seed(seed, "permutation test"))
    hits = 0
    for start in range(0, draws, CHUNK):
        signs = 1 - 2 * rng.integers(0, 2, size=(min(CHUNK, draws - start), len(given)))
        hits += int(np.sum(np.abs(signs @ given) >= observed))
    return (hits + 1) / (draws + 1)


def bootstrap_interval(
    ours: Sequence[float], theirs: Sequence[float], *, level: float = 0.95, seed: int = 0, draws: int = DRAWS
) -> Interval:
    """Return the percentile interval of the mean difference, pairs drawn with replacement."""
    given = differences(ours, theirs)
    rng = np.random.default_rng(derive_seed(seed, "bootstrap"))
    means = np.concatenate(
        [
            given[rng.integers(0, len(given), size=(min(CHUNK, draws - start), len(given)))].mean(axis=1)
            for start in range(0, draws, CHUNK)
        ]
    )
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))


def paired_t_p(ours: Sequence[float], theirs: Sequence[float]) -> float | None:
    """Return the two-sided p of the paired t test; None for fewer than two pairs or constant differences."""
    from scipy.stats import t

    given = differences(ours, theirs)
    if len(given) < 2 or float(given.std()) <= ROUNDING:
        return None
    statistic = given.mean() / (given.std(ddof=1) / math.sqrt(len(given)))
    return float(2 * t.sf(abs(statistic), len(given) - 1))


def holm(p_values: Numbers) -> Numbers:
    """Apply Holm's step-down correction over all entries, which bounds the chance of even one false alarm."""
    order = np.argsort(p_values, axis=None)
    raised = p_values.ravel()[order] * np.arange(len(order), 0, -1)
    adjusted = np.empty(len(order))
    adjusted[order] = np.minimum(np.maximum.accumulate(raised), 1.0)
    return adjusted.reshape(p_values.shape)
