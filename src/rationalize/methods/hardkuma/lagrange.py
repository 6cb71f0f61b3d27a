"""A penalty with an adaptive weight: it grows while a limit is exceeded, and shrinks otherwise."""

from __future__ import annotations

import torch
from torch import Tensor, nn

# So that it can always grow again.
LOWEST = 1e-12


class Multiplier(nn.Module):
    """λ ← λ · exp(η · c̄), c̄ a moving average of the excess c over a limit.

    λ and c̄ are buffers, saved with the weights, so that a resumed run continues with them. Being `below` the limit
    costs as much as being above it (pulled), costs nothing (free), or is rewarded until λ has shrunk (rewarded).
    """

    value: Tensor
    average: Tensor

    def __init__(self, start: float, *, rate: float, memory: float, highest: float, below: str) -> None:
        super().__init__()
        self.rate, self.memory, self.highest, self.below = rate, memory, highest, below
        self.register_buffer("value", torch.tensor(start))
        self.register_buffer("average", torch.tensor(0.0))

    def forward(self, excess: Tensor) -> Tensor:
        """Return λ · cost of the excess; in training λ moves first."""
        if self.training:
            self._move(excess.detach())
        return self.value.clone() * self._cost(excess)

    def _cost(self, excess: Tensor) -> Tensor:
        if self.below == "pulled":
            return excess.abs()
        return excess.clamp(min=0) if self.below == "free" else excess

    @torch.no_grad()
    def _move(self, excess: Tensor) -> None:
        self.average.lerp_(excess.to(self.average.dtype), 1 - self.memory)
        self.value.mul_((self.rate * self.average).exp()).clamp_(LOWEST, self.highest)
