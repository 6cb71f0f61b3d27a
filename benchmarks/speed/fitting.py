"""Fit power laws."""

from __future__ import annotations

import math
from collections.abc import Mapping


def fit_exponent(measured: Mapping[int, float]) -> float:
    """Return e of y ~ x^e, by least squares between logarithms."""
    points = [(math.log(x), math.log(max(y, 1e-9))) for x, y in measured.items()]
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    across = sum((x - mean_x) * (y - mean_y) for x, y in points)
    return across / sum((x - mean_x) ** 2 for x, _ in points)
