"""From selection logits to a mask that can be trained through. Pure functions; noise comes from a generator."""

from __future__ import annotations

import torch
from torch import Tensor


def gumbel_noise(shape: torch.Size, generator: torch.Generator, like: Tensor) -> Tensor:
    """Standard Gumbel noise, -log(-log(u)); drawn on the generator's device and moved."""
    uniform = torch.rand(shape, generator=generator, dtype=like.dtype, device=generator.device)
    tiny = torch.finfo(like.dtype).tiny
    exponential = (-torch.log(uniform.clamp(min=tiny))).clamp(min=tiny)
    return -torch.log(exponential).to(like.device)


def gumbel_soft(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    """Probability of "select" after adding Gumbel noise to both logits. (b, n, 2) -> (b, n)."""
    noise = gumbel_noise(logits.shape, generator, logits)
    return ((logits + noise) / temperature).softmax(-1)[..., 1]


def straight_through(soft: Tensor) -> Tensor:
    """0 or 1 forward, the soft value's gradient backward."""
    hard = (soft > 0.5).to(soft.dtype)
    return soft + (hard - soft).detach()  # in this order the sum is exactly 0 or 1


def gumbel_hard(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    """As `gumbel_soft`, rounded forward (straight-through)."""
    return straight_through(gumbel_soft(logits, temperature, generator))


def argmax_hard(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    """The likelier choice, without noise, passed straight through."""
    return straight_through((logits / temperature).softmax(-1)[..., 1])


def as_pair(logits: Tensor) -> Tensor:
    """One logit of "select" as the two logits (leave, select). (…) -> (…, 2)."""
    return torch.stack([torch.zeros_like(logits), logits], dim=-1)


def relaxed_bernoulli(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    """σ((logit + logistic noise) / temperature); the difference of two Gumbel variables is logistic."""
    return gumbel_soft(as_pair(logits), temperature, generator)


SAMPLERS = {"gumbel_soft": gumbel_soft, "gumbel_hard": gumbel_hard, "argmax_hard": argmax_hard}
