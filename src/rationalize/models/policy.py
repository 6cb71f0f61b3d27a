"""Learn from masks that are drawn, not relaxed: log-probability, entropy, and a baseline (REINFORCE).

Selection logits are (b, n, 2), class 1 being "select"; choices are independent given the text.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


def draw(logits: Tensor, generator: torch.Generator) -> Tensor:
    """Draw a hard mask from the selection probabilities, without a gradient. (b, n, 2) -> (b, n) in {0, 1}."""
    chance = logits.detach().softmax(-1)[..., 1]
    uniform = torch.rand(chance.shape, generator=generator, dtype=chance.dtype, device=generator.device)
    return (uniform.to(chance.device) < chance).to(chance.dtype)


def explore(logits: Tensor, share: float) -> Tensor:
    """Return logits whose choices are even with probability `share`, and unchanged otherwise. (b, n, 2)."""
    log_p = logits.log_softmax(-1)
    if share == 0:
        return log_p
    return torch.logaddexp(log_p + math.log1p(-share), log_p.new_tensor(share / 2).log())


def log_probability(logits: Tensor, mask: Tensor, selectable: Tensor) -> Tensor:
    """Return log p(mask | text), summed over selectable pieces. (b,)."""
    chosen = logits.log_softmax(-1).gather(-1, mask.long()[..., None]).squeeze(-1)
    return chosen.masked_fill(~selectable, 0).sum(-1)


def entropy(logits: Tensor, selectable: Tensor) -> Tensor:
    """Return each choice's entropy, averaged over the row's selectable pieces. (b,)."""
    log_p = logits.log_softmax(-1)
    each = -(log_p.exp() * log_p).sum(-1)
    return each.masked_fill(~selectable, 0).sum(-1) / selectable.sum(-1).clamp(min=1)


def policy_loss(cost: Tensor, baseline: Tensor, log_p: Tensor) -> Tensor:
    """Return (cost - baseline) · log p, mean over the batch: its gradient is that of the expected cost. All (b,)."""
    return ((cost - baseline).detach() * log_p).mean()


class MovingAverage(nn.Module):
    """A moving average, kept in the weights so that a resumed run continues it."""

    value: Tensor

    def __init__(self, start: float, memory: float) -> None:
        super().__init__()
        self.memory = memory
        self.register_buffer("value", torch.tensor(start))

    @torch.no_grad()
    def forward(self, seen: Tensor) -> Tensor:
        """Return the value from before `seen`; in training it then moves toward the mean of `seen`."""
        before = self.value.clone()
        if self.training:
            self.value.lerp_(seen.detach().mean().to(self.value.dtype), 1 - self.memory)
        return before
