"""Where a selector starts: at the share of pieces that is wanted, not at even chances."""

from __future__ import annotations

import math

import torch
from torch import nn

LEAST, MOST = 0.01, 0.99
"""Nearer to nothing or everything, a selector would hardly learn."""
FIRST_SAY = 0.1
"""What is left of a fresh head's weights, which are chance: at first the bias decides."""


def bound_share(share: float) -> float:
    """A share that something can still be learned from."""
    return min(max(share, LEAST), MOST)


@torch.no_grad()
def lean_to(head: nn.Module, *bias: float) -> None:
    """Let a fresh linear head give (nearly) these numbers, whatever it reads."""
    head.get_parameter("weight").mul_(FIRST_SAY)
    head.get_parameter("bias").copy_(torch.tensor(bias))


def lean_to_share(head: nn.Module, share: float) -> None:
    """Let a fresh head of two logits (leave, select) select (nearly) this share."""
    share = bound_share(share)
    odds = math.log(share / (1 - share))
    lean_to(head, -odds / 2, odds / 2)
