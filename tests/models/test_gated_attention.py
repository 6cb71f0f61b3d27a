"""Gates in attention: the value of 0 and 1, and the slope of what opening a gate would do. In double precision."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from rationalize.models import _gated_attention
from rationalize.models._gated_attention import attend_through_gates

B, H, N, D = 2, 2, 5, 3


def drawn(*shape, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def shut(gates):
    """What is added to the scores."""
    lowest = torch.finfo(gates.dtype).min / 2
    return torch.zeros_like(gates).masked_fill(gates == 0, lowest)


def look(q, k, v, gate, causal):
    """Attention by hand where piece j counts gate_j times. (b, h, n, d)."""
    groups = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
    weights = (q @ k.mT / D**0.5).exp() * gate[:, None, None, :]
    weights = weights.tril() if causal else weights
    return weights @ v / weights.sum(-1, keepdim=True)


def slopes(q, k, v, gate, g, causal):
    """Values and the gates' gradients of Σ g · value, as the library has them."""
    own = gate.clone().requires_grad_()
    gates = own[:, None, None, :].expand(-1, 1, N, -1)
    gates = gates.tril() if causal else gates
    mask = shut(gates)
    out, _ = attend_through_gates(nn.Identity().eval(), q, k, v, mask, gates=gates, scaling=D**-0.5)
    (found,) = torch.autograd.grad((out.transpose(1, 2) * g).sum(), own)
    return out.transpose(1, 2), found


@pytest.mark.parametrize("key_heads", [2, 1])
@pytest.mark.parametrize("causal", [False, True])
def test_the_slope_of_a_shut_gate_is_what_opening_it_does_and_of_an_open_one_the_derivative(
    causal, key_heads
):
    q, g = drawn(B, H, N, D, seed=0), drawn(B, H, N, D, seed=3)
    k, v = drawn(B, key_heads, N, D, seed=1), drawn(B, key_heads, N, D, seed=2)
    k[:, :, 3] *= 20  # some would look at this one before all others
    gate = torch.tensor([[1.0, 0, 1, 0, 1], [1, 1, 0, 0, 0]], dtype=torch.float64)
    value, found = slopes(q, k, v, gate, g, causal)
    here = look(q, k, v, gate, causal)
    torch.testing.assert_close(value, here)
    for row, piece in torch.ones(B, N).nonzero().tolist():
        step = 1.0 if gate[row, piece] == 0 else -1e-6
        other = gate.clone()
        other[row, piece] += step
        change = ((look(q, k, v, other, causal) - here) * g).sum() / step
        assert found[row, piece].item() == pytest.approx(change.item(), rel=1e-4), (row, piece)


@pytest.mark.parametrize("cached", [1, N * N, H * N * N])
def test_slopes_do_not_depend_on_what_is_computed_together(monkeypatch, cached):
    q, k, v, g = (drawn(B, H, N, D, seed=seed) for seed in range(4))
    gate = torch.tensor([[1.0, 0, 1, 0, 1], [1, 1, 0, 0, 0]], dtype=torch.float64)
    _, whole = slopes(q, k, v, gate, g, causal=False)
    monkeypatch.setattr(_gated_attention, "CACHED", cached)
    _, found = slopes(q, k, v, gate, g, causal=False)
    torch.testing.assert_close(found, whole)


def test_values_are_those_of_the_fused_attention_to_the_bit():
    q, k, v = (drawn(B, H, N, D, seed=seed).float() for seed in range(3))
    gate = torch.tensor([[1.0, 0, 1, 0, 1], [1, 1, 0, 0, 0]], requires_grad=True)
    gates = gate[:, None, None, :].expand(-1, 1, N, -1)
    mask = shut(gates)
    out, _ = attend_through_gates(nn.Identity().eval(), q, k, v, mask, gates=gates, scaling=0.5)
    assert torch.equal(out.transpose(1, 2), F.scaled_dot_product_attention(q, k, v, mask, scale=0.5))


def test_the_slope_is_bounded_where_the_derivative_is_not():
    """One piece would draw the whole look: opening it cannot do more than bring its own value."""
    q = torch.full((1, 1, 2, 1), 30.0, dtype=torch.float64)
    k = torch.tensor([0.0, 1.0], dtype=torch.float64).view(1, 1, 2, 1)
    v = torch.tensor([2.0, 5.0], dtype=torch.float64).view(1, 1, 2, 1)
    gate = torch.tensor([[1.0, 0.0]], dtype=torch.float64, requires_grad=True)
    gates = gate[:, None, None, :].expand(-1, 1, 2, -1)
    mask = shut(gates)
    out, _ = attend_through_gates(nn.Identity().eval(), q, k, v, mask, gates=gates, scaling=1.0)
    (found,) = torch.autograd.grad(out[0, 0].sum(), gate)
    assert found[0, 1].item() == pytest.approx(5.0 - 2.0)
