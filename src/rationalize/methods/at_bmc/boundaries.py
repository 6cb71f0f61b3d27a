"""Starts and ends of gold spans, and which of them belong together."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor
from torch.nn import functional as F


class BoundaryPairs(NamedTuple):
    """Candidate spans, one entry each: (row, start, end), inclusive, and whether it is a gold span."""

    rows: Tensor
    starts: Tensor
    ends: Tensor
    matches: Tensor


def pair_boundaries(gold: Tensor) -> BoundaryPairs:
    """Pair every gold start i with every gold end j ≥ i of the same row; a span is a run of gold pieces.

    Only candidates are listed, so the cost grows with the number of spans, not with the length squared. (b, n) bool.
    """
    around = F.pad(gold, (1, 1))
    rows, starts = (gold & ~around[:, :-2]).nonzero(as_tuple=True)
    ends = (gold & ~around[:, 2:]).nonzero(as_tuple=True)[1]
    # Runs are ordered by row and position: the k-th start and the k-th end belong to the k-th run.
    first, last = (rows[:, None] == rows).triu().nonzero(as_tuple=True)
    return BoundaryPairs(rows[first], starts[first], ends[last], first == last)
