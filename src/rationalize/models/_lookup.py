"""Look up the embeddings of pieces so that learning costs as much as a batch has pieces, not as the vocabulary has.

The gradient of a lookup is zero but for the rows that were looked up. As a whole table it has to be made, filled with
zeros and added once for every reading of a text; for a vocabulary of 30,000 that took 5 to 12 % of a step. So where the
table is large the gradient names its rows (torch calls that sparse), and training puts them into one table that it
keeps (`training/_table_gradients.py`).
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F

from rationalize.models.weights import is_sharded

LEAST_TABLE = 2**20
"""Numbers in a table from which on rows are named: naming them costs more than a small table."""


def look_up(table: nn.Module, ids: Tensor) -> Tensor:
    """Return the embeddings of pieces, as the module itself gives them. (…) -> (…, e)."""
    if type(table) is not nn.Embedding or not _names_rows(table):
        embedded: Tensor = table(ids)
        return embedded
    return F.embedding(ids, table.weight, table.padding_idx, sparse=True)


def _names_rows(table: nn.Embedding) -> bool:
    """Return whether gradients name their rows: other devices fill tables fast, and would wait for the names."""
    weight = table.weight
    plain = table.max_norm is None and not table.scale_grad_by_freq and not is_sharded(weight)
    return plain and weight.device.type == "cpu" and weight.numel() >= LEAST_TABLE
