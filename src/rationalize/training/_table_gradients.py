"""Gradients that name rows of a weight (`models/_lookup.py`), made whole in a table that is kept."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn


class TableGradients:
    """Keeps one table of zeros per weight, and lends it as the weight's gradient for one update at a time."""

    def __init__(self) -> None:
        self._tables: dict[nn.Parameter, Tensor] = {}
        self._rows: dict[nn.Parameter, Tensor] = {}

    @torch.no_grad()
    def complete(self, parameters: Sequence[nn.Parameter]) -> None:
        """Replace gradients that name rows by whole ones, equal but for the order in which rows are added up."""
        for parameter in parameters:
            gradient = parameter.grad
            if gradient is None or not gradient.is_sparse:
                continue
            table = self._clean(parameter)
            rows, places = torch.unique(gradient._indices()[0], return_inverse=True)
            # As torch makes the gradient of a small table: in a fixed order, whatever the number of threads.
            sums = torch.ops.aten.embedding_dense_backward(gradient._values(), places, len(rows), -1, False)
            table.index_copy_(0, rows, sums)
            parameter.grad, self._rows[parameter] = table, rows

    def _clean(self, parameter: nn.Parameter) -> Tensor:
        """Return the weight's table, zero everywhere: only rows of the last update are not."""
        table = self._tables.get(parameter)
        if table is None:
            table = self._tables[parameter] = torch.zeros_like(parameter)
        elif parameter in self._rows:
            table.index_fill_(0, self._rows.pop(parameter), 0)
        return table
