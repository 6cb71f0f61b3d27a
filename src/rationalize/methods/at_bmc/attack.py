"""Perturbations of embeddings that move a classifier as far as one gradient step can see."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from rationalize.models.losses import kl_divergence

NOISE = 1e-5


def embedding_attack(
    embedded: Tensor,
    classify: Callable[[Tensor], Tensor],
    clean: Tensor,
    generator: torch.Generator,
    *,
    step: float,
    radius: float,
) -> Tensor:
    """A perturbation δ of embeddings (b, n, e), without a gradient of its own.

    δ ~ 1e-5 · N(0, 1); g = ∇_δ KL(p ‖ p(e + δ)) with p the softmax of `clean` (b, C); then δ + step · g, the gradient
    and the sum both scaled to the same largest entry at every piece: 1 and `radius`.
    """
    drawn = torch.randn(embedded.shape, generator=generator, device=generator.device, dtype=embedded.dtype)
    noise = (NOISE * drawn.to(embedded.device)).requires_grad_()
    divergence = kl_divergence(clean.detach(), classify(embedded.detach() + noise))
    (gradient,) = torch.autograd.grad(divergence, noise)
    return radius * _unit(noise.detach() + step * _unit(gradient))


def _unit(values: Tensor) -> Tensor:
    """Each piece's vector with its largest entry scaled to ±1; zeros stay. (b, n, e)."""
    largest = values.abs().amax(-1, keepdim=True)
    return values / largest.clamp(min=torch.finfo(values.dtype).tiny)
