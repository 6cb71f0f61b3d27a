"""Start a selector at the wanted share of pieces, not at even chances."""

from __future__ import annotations

import math

import torch
from torch import nn

LEAST, MOST = 0.01, 0.99
"""Beyond these shares a selector would hardly learn."""
KEPT_WEIGHT = 0.1
"""Factor on a fresh head's random weights, so that at first the bias decides."""


def bound_share(share: float) -> float:
    """Limit a share to the range in which a selector still learns."""
    return min(max(share, LEAST), MOST)


@torch.no_grad()
def lean_to(head: nn.Module, *bias: float) -> None:
    """Make a fresh linear head return (nearly) these numbers for any input."""
    head.get_parameter("weight").mul_(KEPT_WEIGHT)
    head.get_parameter("bias").copy_(torch.tensor(bias))


def lean_to_share(head: nn.Module, share: float) -> None:
    """Make a fresh head with two logits (leave, select) select (nearly) this share."""
    share = bound_share(share)
    odds = math.log(share / (1 - share))
    lean_to(head, -odds / 2, odds / 2)
