"""Attention through gates that are open or shut, with a slope for the shut ones.

Query i sees o_i = Σ_j p_ij v_j over the open pieces. Opening piece j as well would give it the share
q_ij = e^{s_ij} / (e^{s_ij} + Σ_{k open} e^{s_ik}) of the look, s the scores, and change o_i by exactly
q_ij (v_j - o_i): this is the slope of a shut gate. That of an open one is p_ij (v_j - o_i), the derivative of
softmax(s + log gate). The derivative at a shut gate would be q_ij / (1 - q_ij) (v_j - o_i), which is unbounded: for a
piece that a sharp head would look at before all others, it is tens of thousands of times the effect of opening it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

NAME = "rationalize_gates"
"""The name under which transformers finds the function."""


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
        attention_mask: (b, 1, n, n), added to the scores: the lowest number where a gate is shut.
        gates: (b, 1, n, n) in {0, 1}, with a gradient; None: attention as usual.
        settings: Scaling, dropout and whatever else the layer passes.
    """
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    found: tuple[Tensor, None] = sdpa_attention_forward(module, query, key, value, attention_mask, **settings)
    if gates is None or attention_mask is None:
        return found
    seen = found[0].transpose(1, 2)
    groups = query.shape[1] // key.shape[1]
    key, value = (each.detach().repeat_interleave(groups, dim=1) for each in (key, value))
    scaling = settings.get("scaling")
    scores = query.detach() @ key.mT * (query.shape[-1] ** -0.5 if scaling is None else scaling)
    moved = (gates - gates.detach()) * _compute_shares(scores, attention_mask, gates)
    glance = moved @ value - moved.sum(-1, keepdim=True) * seen.detach()  # 0, and yet it has a slope
    return (seen + glance).transpose(1, 2), None


@torch.no_grad()
def _compute_shares(scores: Tensor, attention_mask: Tensor, gates: Tensor) -> Tensor:
    """Compute the share of each query's attention that a piece has, or would have with its gate open. (b, h, n, n)."""
    open_ones = scores + attention_mask
    total = open_ones.logsumexp(-1, keepdim=True)
    return torch.where(gates > 0, (open_ones - total).exp(), (scores - total).sigmoid())


@contextmanager
def use_gates(model: Any) -> Iterator[None]:
    """Let the model's attention take `gates` inside the block."""
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    ALL_ATTENTION_FUNCTIONS.register(NAME, attend_through_gates)
    usual = model.config._attn_implementation
    model.config._attn_implementation = NAME
    try:
        yield
    finally:
        model.config._attn_implementation = usual
