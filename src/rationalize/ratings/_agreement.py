"""Agreement between raters: Krippendorff's alpha and rank correlation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from rationalize.metrics.significance import ROUNDING


def krippendorff_alpha(units: Iterable[Sequence[float]]) -> float | None:
    """Compute Krippendorff's alpha with the interval distance (squared difference); raters may be missing.

    1 is perfect agreement, 0 is chance, below 0 is worse than chance.

    Args:
        units: For each item, its raters' values in any order. Items with fewer than two are left out.

    Returns:
        Alpha; None if undefined: no item has two values, or all values are equal.
    """
    paired = [np.asarray(unit, dtype=float) for unit in units if len(unit) > 1]
    if not paired:
        return None
    pooled = np.concatenate(paired)
    expected = _sum_squares(pooled) / (len(pooled) - 1)
    if expected <= ROUNDING:
        return None
    observed = sum(_sum_squares(unit) / (len(unit) - 1) for unit in paired)
    return float(1 - observed / expected)


def _sum_squares(values: np.ndarray) -> float:
    """Sum the squared differences over all ordered pairs."""
    centered = values - values.mean()
    return float(2 * len(values) * (centered @ centered))


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Compute the rank correlation, with mean ranks for ties; None for fewer than three pairs or constant values."""
    from scipy.stats import spearmanr

    if len(first) < 3 or len(set(first)) < 2 or len(set(second)) < 2:
        return None
    return float(spearmanr(first, second).statistic)
