"""How far raters agree: Krippendorff's alpha and rank correlation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from rationalize.metrics.significance import ROUNDING


def krippendorff_alpha(units: Iterable[Sequence[float]]) -> float | None:
    """Krippendorff's alpha with the interval distance (squared difference); raters may be missing.

    1 is perfect agreement, 0 what chance would give, below 0 is worse than that.

    Args:
        units: For each item the values that its raters gave, in any order. Items with fewer than two are left out.

    Returns:
        None where it is undefined: no item has two values, or all values are the same.
    """
    paired = [np.asarray(unit, dtype=float) for unit in units if len(unit) > 1]
    if not paired:
        return None
    pooled = np.concatenate(paired)
    expected = _squares(pooled) / (len(pooled) - 1)
    if expected <= ROUNDING:
        return None
    observed = sum(_squares(unit) / (len(unit) - 1) for unit in paired)
    return float(1 - observed / expected)


def _squares(values: np.ndarray) -> float:
    """Squared differences, summed over all ordered pairs."""
    centerd = values - values.mean()
    return float(2 * len(values) * (centerd @ centerd))


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Rank correlation, ties sharing their mean rank; None for fewer than three pairs or values that never vary."""
    from scipy.stats import spearmanr

    if len(first) < 3 or len(set(first)) < 2 or len(set(second)) < 2:
        return None
    return float(spearmanr(first, second).statistic)
