"""Where gold spans begin and end, and which beginnings belong to which ends."""

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


def boundary_pairs(gold: Tensor) -> BoundaryPairs:
    """All pairs of a gold start i and a gold end j of the same row with i ≤ j; a span is a run of gold pieces.

    Only candidates are listed, so the cost grows with the number of spans, not with the length squared. (b, n) bool.
    """
    around = F.pad(gold, (1, 1))
    rows, starts = (gold & ~around[:, :-2]).nonzero(as_tuple=True)
    ends = (gold & ~around[:, 2:]).nonzero(as_tuple=True)[1]
    # Runs come in order of rows and places: the k-th start and the k-th end are those of the k-th run.
    first, last = (rows[:, None] == rows).triu().nonzero(as_tuple=True)
    return BoundaryPairs(rows[first], starts[first], ends[last], first == last)
