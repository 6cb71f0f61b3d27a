"""Attention of an exported graph: one operator of ONNX Runtime in place of products, sums and a softmax.

The operator computes block by block, so that nothing of size n × n goes through memory, but only where nothing is added
to the scores. What hides pieces is therefore made a part of the vectors: each key gets one more number, what would be
added to its scores, and each query a 1 that it is multiplied with.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

NAME = "rationalize_graph"
"""The name under which transformers finds the function."""
OPERATOR = "com.microsoft::MultiHeadAttention"
LOWEST = -1e9
"""The least number that a key gets: scores are then so low that e to their power is 0, and sums stay finite."""


def attend_in_graph(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    **settings: Any,
) -> tuple[Tensor, None]:
    """Attend as transformers' layers ask for it, traced as one operator. (b, h, n, d) -> (b, n, h, d).

    Args:
        module: The layer, as transformers gives it.
        query: (b, h, n, d).
        key: As the queries.
        value: As the queries.
        attention_mask: (b, 1, n, n), added to the scores, the same for every query.
        scaling: What scores are multiplied with; None: d to the power of -1/2.
        settings: What layers pass besides; nothing of it matters when a model explains.
    """
    heads, width = int(query.shape[1]), int(query.shape[-1])  # numbers of the graph itself, not of its inputs
    scale = width**-0.5 if scaling is None else scaling
    # Turned back to what the layer had turned: nothing is copied.
    query, key, value = (each.transpose(1, 2) for each in (query, key, value))
    if attention_mask is not None:
        added = (attention_mask[:, 0, 0, :, None, None] / scale).clamp(min=LOWEST)
        query = F.pad(query, (0, 1), value=1.0)
        key = torch.cat([key, added.expand(-1, -1, heads, -1)], -1)
    joined = (each.reshape(*each.shape[:2], -1) for each in (query, key, value))
    seen: Tensor = _Attention.apply(*joined, heads, scale, heads * width)  # type: ignore[no-untyped-call]
    return seen.reshape(*value.shape), None


class _Attention(torch.autograd.Function):
    """Attention of all heads, (b, n, h · d) each; a graph has one operator for it."""

    @staticmethod
    def forward(
        ctx: Any, query: Tensor, key: Tensor, value: Tensor, heads: int, scale: float, width: int
    ) -> Tensor:
        """Compute it, as tracing needs a result."""
        query, key, value = (
            each.reshape(*each.shape[:2], heads, -1).transpose(1, 2) for each in (query, key, value)
        )
        return F.scaled_dot_product_attention(query, key, value, scale=scale).transpose(1, 2).flatten(2)

    @staticmethod
    def symbolic(graph: Any, query: Any, key: Any, value: Any, heads: int, scale: float, width: int) -> Any:
        """Name the operator, and say what it returns: as wide a vector for any number of rows and pieces."""
        found = graph.op(OPERATOR, query, key, value, num_heads_i=heads, scale_f=scale)
        return found.setType(query.type().with_sizes([None, None, width]))
