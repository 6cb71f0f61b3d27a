"""Scale losses so that half-precision gradients neither vanish nor overflow."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

START, LOWEST = 2.0**16, 1.0
GROW_AFTER = 2000
"""Steps without an overflow after which the scale is doubled."""


class LossScale:
    """The factor on losses in fp16: halved at an overflow, whose step is left out, doubled after many good steps.

    In other precisions it is 1 and changes nothing. Two numbers, kept in checkpoints.
    """

    def __init__(self, precision: str) -> None:
        self.value = START if precision == "fp16" else 1.0
        self.good = 0
        self.moves = precision == "fp16"

    def enlarge(self, loss: Tensor) -> Tensor:
        """Return the loss to differentiate."""
        return loss * self.value if self.moves else loss

    @torch.no_grad()
    def shrink(self, parameters: Iterable[nn.Parameter]) -> None:
        """Bring gradients back to their true size."""
        if self.moves:
            for parameter in parameters:
                if parameter.grad is not None:
                    parameter.grad.div_(self.value)

    def accept(self, finite: bool) -> bool:
        """Return whether to make the step; one with an overflow is left out, unless the scale cannot fall further."""
        if not self.moves:
            return True
        if not finite and self.value > LOWEST:
            self.value, self.good = self.value / 2, 0
            return False
        self.good += 1
        if self.good >= GROW_AFTER:
            self.value, self.good = self.value * 2, 0
        return True

    def to_state(self) -> list[float]:
        """Return what a checkpoint keeps."""
        return [self.value, float(self.good)]

    def load_state(self, state: list[float]) -> None:
        """Restore what `to_state` returned; an empty list: as at the start."""
        if self.moves and state:
            self.value, self.good = state[0], int(state[1])
