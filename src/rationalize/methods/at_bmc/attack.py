"""Perturb embeddings so that a classifier's output changes most, as far as one gradient step shows."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from rationalize.models.losses import kl_divergence

NOISE = 1e-5


def attack_embeddings(
    embedded: Tensor,
    classify: Callable[[Tensor], Tensor],
    clean: Tensor,
    generator: torch.Generator,
    *,
    step: float,
    radius: float,
) -> Tensor:
    """Compute a perturbation δ of embeddings (b, n, e), without a gradient.

    δ ~ 1e-5 · N(0, 1); g = ∇_δ KL(p ‖ p(e + δ)) with p the softmax of `clean` (b, C); then δ + step · g.
    At every piece, g is first scaled to a largest entry of 1, and the sum to one of `radius`.
    """
    drawn = torch.randn(embedded.shape, generator=generator, device=generator.device, dtype=embedded.dtype)
    noise = (NOISE * drawn.to(embedded.device)).requires_grad_()
    divergence = kl_divergence(clean.detach(), classify(embedded.detach() + noise))
    (gradient,) = torch.autograd.grad(divergence, noise)
    return radius * _scale_to_unit(noise.detach() + step * _scale_to_unit(gradient))


def _scale_to_unit(values: Tensor) -> Tensor:
    """Scale the largest entry of each piece's vector to ±1; zeros stay. (b, n, e)."""
    largest = values.abs().amax(-1, keepdim=True)
    return values / largest.clamp(min=torch.finfo(values.dtype).tiny)
