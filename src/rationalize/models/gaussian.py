"""Masks as sums of bumps: every piece has a weight and a width, and its neighbours feel both."""

from __future__ import annotations

import torch
from torch import Tensor


def gaussian_logits(weights: Tensor, widths: Tensor, selectable: Tensor) -> Tensor:
    """ℓ_i = Σ_j w_j exp(-(i - j)² / σ_j) over document pieces j, for each class. (b, n, C) twice -> (b, n, C)."""
    places = torch.arange(weights.shape[1], device=weights.device)
    squares = (places[:, None] - places).square()[None, :, :, None]  # (1, i, j, 1)
    bumps = torch.exp(-squares / widths[:, None])
    heights = (weights * selectable[..., None])[:, None]
    return (bumps * heights).sum(2)
