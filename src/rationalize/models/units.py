"""Units: sentences or words that are selected as a whole. Maps pieces to units and back."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Units:
    """The units of a batch. b: rows, n: word pieces, s: the most units in a row (at least 1).

    Attributes:
        index: (b, n) int, the number of a piece's unit in its row; meaningless where not `inside`.
        inside: (b, n) bool, the pieces that belong to a unit.
        starts: (b, s) int, first piece of each unit.
        ends: (b, s) int, last piece of each unit.
        present: (b, s) bool, False where a row has fewer units.
    """

    index: Tensor
    inside: Tensor
    starts: Tensor
    ends: Tensor
    present: Tensor

    def join_edges(self, hidden: Tensor) -> Tensor:
        """Concatenate the vectors of each unit's first and last piece. (b, n, d) -> (b, s, 2d)."""
        rows = torch.arange(len(hidden), device=hidden.device)[:, None]
        return torch.cat([hidden[rows, self.starts], hidden[rows, self.ends]], dim=-1)

    def find_touched(self, mask: Tensor) -> Tensor:
        """Find the units that share a piece with the mask. (b, n) bool -> (b, s) bool."""
        found = torch.zeros_like(self.present)
        return found.scatter_reduce(1, self.index, mask & self.inside, "amax")

    def spread(self, values: Tensor) -> Tensor:
        """Give every piece its unit's value, 0 outside. (b, s) -> (b, n)."""
        return values.gather(1, self.index).masked_fill(~self.inside, 0)

    def average(self, values: Tensor) -> Tensor:
        """Average over the units of each row, 0 for a row without any. (b, s) -> (b,)."""
        return values.masked_fill(~self.present, 0).sum(-1) / self.present.sum(-1).clamp(min=1)


def find_units(numbers: Tensor, selectable: Tensor) -> Units:
    """Find units from each piece's sentence or word number (b, n), -1 outside; numbers need not start at 0."""
    inside = selectable & (numbers >= 0)
    begins = inside.clone()
    begins[:, 1:] &= ~(inside[:, :-1] & (numbers[:, 1:] == numbers[:, :-1]))
    index = (begins.cumsum(-1) - 1).clamp(min=0)
    counts = begins.sum(-1)
    b, n = numbers.shape
    present = torch.arange(max(1, int(counts.max())), device=numbers.device) < counts[:, None]
    places = torch.arange(n, device=numbers.device).expand(b, n)
    ends = torch.zeros_like(present, dtype=torch.long)
    ends = ends.scatter_reduce(1, index, places.masked_fill(~inside, 0), "amax")
    starts = torch.full_like(ends, n - 1)
    starts = starts.scatter_reduce(1, index, places.masked_fill(~inside, n - 1), "amin")
    return Units(index, inside, starts, ends, present)
