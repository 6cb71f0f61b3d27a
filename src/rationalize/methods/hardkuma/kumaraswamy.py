"""The HardKuma distribution (Bastings et al., 2019): a stretched Kumaraswamy variable, clipped to [0, 1].

k ~ Kuma(a, b), t = l + (r - l) k with l < 0 < 1 < r, z = min(1, max(0, t)): zeros and ones have positive
probability, and gradients pass in between. At least in single precision; in half precision powers would overflow.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

LEFT, RIGHT = -0.1, 1.1
SMALLEST, LARGEST = 1e-6, 100.0
# Noise stays away from the ends, where the powers have no gradient.
EDGE = 0.001


class HardKuma(NamedTuple):
    """Parameters a and b of independent HardKuma variables, tensors of the same shape."""

    a: Tensor
    b: Tensor

    def sample(self, generator: torch.Generator) -> Tensor:
        """Draw z, differentiable in a and b: k = (1 - (1 - u)^(1/b))^(1/a)."""
        uniform = torch.rand(
            self.a.shape, generator=generator, dtype=self.a.dtype, device=generator.device
        ).to(self.a.device)
        uniform = EDGE + (1 - 2 * EDGE) * uniform
        inner = -torch.expm1(torch.log1p(-uniform) / self.b)
        kuma = (inner.log() / self.a).exp()
        return (LEFT + (RIGHT - LEFT) * kuma).clamp(0, 1)

    def zero(self) -> Tensor:
        """Return P(z = 0) = F(-l / (r - l)), with Kumaraswamy's F(k) = 1 - (1 - k^a)^b."""
        return -torch.expm1(self._log_above(-LEFT / (RIGHT - LEFT)))

    def nonzero(self) -> Tensor:
        """Return P(z ≠ 0)."""
        return self._log_above(-LEFT / (RIGHT - LEFT)).exp()

    def one(self) -> Tensor:
        """Return P(z = 1) = 1 - F((1 - l) / (r - l))."""
        return self._log_above((1 - LEFT) / (RIGHT - LEFT)).exp()

    def mode_logits(self) -> Tensor:
        """Return pairs (…, 2): the first is larger if z = 0 is the likeliest of z = 0, 0 < z < 1 and z = 1."""
        between = self.nonzero() - self.one()
        pair = torch.stack([self.zero(), torch.maximum(between, self.one())], dim=-1)
        return pair.clamp(min=torch.finfo(pair.dtype).tiny).log()

    def _log_above(self, k: float) -> Tensor:
        """Return log P(Kuma > k) = b · log(1 - k^a), accurate for small and large a."""
        return self.b * torch.log(-torch.expm1(self.a * math.log(k)))


def invert_share(share: float) -> tuple[float, float]:
    """Find raw numbers (the second is 0) with P(z ≠ 0) = share, strictly between 0 and 1."""
    b = math.log(2)  # softplus(0)
    a = math.log1p(-(share ** (1 / b))) / math.log(-LEFT / (RIGHT - LEFT))
    return math.log(math.expm1(a)), 0.0


def make_hardkuma(raw: Tensor) -> HardKuma:
    """Make variables from two raw numbers each, made positive and limited so that powers are finite. (…, 2)."""
    raw = raw.to(torch.promote_types(raw.dtype, torch.float32))
    a, b = F.softplus(raw).clamp(SMALLEST, LARGEST).unbind(-1)
    return HardKuma(a, b)
