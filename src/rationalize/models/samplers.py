"""Turn selection logits into masks that pass gradients. Pure functions; noise comes from a generator."""

from __future__ import annotations

import torch
from torch import Tensor


def draw_gumbel_noise(shape: torch.Size, generator: torch.Generator, like: Tensor) -> Tensor:
    """Draw standard Gumbel noise, -log(-log(u)), on the generator's device, and move it to that of `like`."""
    uniform = torch.rand(shape, generator=generator, dtype=like.dtype, device=generator.device)
    tiny = torch.finfo(like.dtype).tiny
    exponential = (-torch.log(uniform.clamp(min=tiny))).clamp(min=tiny)
    return -torch.log(exponential).to(like.device)


def gumbel_soft(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    """Return the probability of "select" after adding Gumbel noise to both logits. (b, n, 2) -> (b, n)."""
    noise = draw_gumbel_noise(logits.shape, generator, logits)
    return ((logits + noise) / temperature).softmax(-1)[..., 1]


def straight_through(soft: Tensor) -> Tensor:
    """Round to 0 or 1, and keep the soft value's gradient."""
    hard = (soft > 0.5).to(soft.dtype)
    return soft + (hard - soft).detach()  # in this order the sum is exactly 0 or 1


def gumbel_hard(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    """Round `gumbel_soft`, straight through."""
    return straight_through(gumbel_soft(logits, temperature, generator))


def argmax_hard(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    """Make the likelier choice, without noise, straight through."""
    return straight_through((logits / temperature).softmax(-1)[..., 1])


def as_pair(logits: Tensor) -> Tensor:
    """Turn one logit of "select" into two logits (leave, select). (…) -> (…, 2)."""
    return torch.stack([torch.zeros_like(logits), logits], dim=-1)


def relaxed_bernoulli(logits: Tensor, temperature: float, generator: torch.Generator) -> Tensor:
    """Return σ((logit + logistic noise) / temperature); logistic noise is the difference of two Gumbel variables."""
    return gumbel_soft(as_pair(logits), temperature, generator)


SAMPLERS = {"gumbel_soft": gumbel_soft, "gumbel_hard": gumbel_hard, "argmax_hard": argmax_hard}
