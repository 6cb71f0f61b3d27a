"""Attention through gates that are open or shut, with a slope for the shut ones.

Query i sees o_i = Σ_j p_ij v_j over the open pieces. Opening piece j as well would give it the share
q_ij = e^{s_ij} / (e^{s_ij} + Σ_{k open} e^{s_ik}) of the look, s the scores, and change o_i by exactly
q_ij (v_j - o_i): this is the slope of a shut gate. That of an open one is p_ij (v_j - o_i), the derivative of
softmax(s + log gate). The derivative at a shut gate would be q_ij / (1 - q_ij) (v_j - o_i), which is unbounded: for a
piece that a sharp head would look at before all others, it is tens of thousands of times the effect of opening it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

NAME = "rationalize_gates"
"""The name under which transformers finds the function."""
CACHED = 2**19
"""Numbers that a CPU goes through again and again faster than through new ones."""


def attend_through_gates(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    gates: Tensor | None = None,
    **settings: Any,
) -> tuple[Tensor, None]:
    """Run the usual fused attention; gates change its gradient, not its value. (b, h, n, d) -> (b, n, h, d).

    Args:
        module: The layer, as transformers gives it.
        query: (b, h, n, d).
        key: (b, g, n, d), one for every h / g heads.
        value: As the keys.
        attention_mask: (b, 1, 1 or n, n), added to the scores: the lowest number where a gate is shut, else 0.
        gates: (b, 1, 1 or n, n) in {0, 1}, with a gradient; None: attention as usual.
        settings: Scaling, dropout and whatever else the layer passes.
    """
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    found: tuple[Tensor, None] = sdpa_attention_forward(module, query, key, value, attention_mask, **settings)
    if gates is None or attention_mask is None:
        return found
    scaling = settings.get("scaling")
    scaled = query.detach() * (query.shape[-1] ** -0.5 if scaling is None else scaling)
    seen = found[0].transpose(1, 2)
    looks = (scaled, key.detach(), value.detach(), attention_mask)
    sloped: Tensor = _GateSlopes.apply(seen, gates, *looks)  # type: ignore[no-untyped-call]
    return sloped.transpose(1, 2), None


class _GateSlopes(torch.autograd.Function):
    """Returns what is seen as it is; on the way back, the gates get their slopes.

    Nothing of size n × n is computed on the way forth, or kept until the way back.
    """

    @staticmethod
    def forward(ctx: Any, seen: Tensor, gates: Tensor, *looks: Tensor) -> Tensor:
        """Keep what the slopes depend on: queries (scaled), keys, values and what is added to the scores."""
        ctx.save_for_backward(seen, gates, *looks)
        return seen.view_as(seen)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradient of what is seen, which is the given one, and that of the gates."""
        seen, gates, query, key, value, mask = ctx.saved_tensors
        groups = query.shape[1] // key.shape[1]
        key, value = (each.repeat_interleave(groups, dim=1) for each in (key, value))
        levels = (grad * seen).sum(-1, keepdim=True)
        slopes = torch.zeros_like(gates)
        for rows, heads in _cut(query):
            effects = grad[rows, heads] @ value[rows, heads].mT
            effects -= levels[rows, heads]  # of a piece's value, in place of what is seen
            effects *= _compute_shares(query[rows, heads] @ key[rows, heads].mT, mask[rows], gates[rows])
            slopes[rows] += effects.sum(1, keepdim=True).sum_to_size(slopes[rows].shape)
        return grad, slopes, None, None, None, None


def _cut(query: Tensor) -> Iterator[tuple[slice, slice]]:
    """Yield rows and heads to compute together: on a CPU, few enough for its cache."""
    rows, heads, n, _ = query.shape
    if query.device.type != "cpu":
        yield slice(None), slice(None)
        return
    step, own = max(1, CACHED // (heads * n * n)), min(heads, max(1, CACHED // (n * n)))
    for row in range(0, rows, step):
        for head in range(0, heads, own):
            yield slice(row, row + step), slice(head, head + own)


def _compute_shares(scores: Tensor, mask: Tensor, gates: Tensor) -> Tensor:
    """Compute the share of each query's attention that a piece has, or would have with its gate open. (b, h, n, n)."""
    scores -= (scores + mask).logsumexp(-1, keepdim=True)
    opened = scores.sigmoid_()  # e^s / (1 + e^s); an open gate's share is e^s
    return opened.div_(1 - gates * opened)
