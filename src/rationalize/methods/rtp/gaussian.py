"""Masks as sums of Gaussian bumps: every piece has a weight and a width, which affect its neighbors."""

from __future__ import annotations

import torch
from torch import Tensor


def gaussian_logits(weights: Tensor, widths: Tensor, selectable: Tensor) -> Tensor:
    """Return ℓ_i = Σ_j w_j exp(-(i - j)² / σ_j) over document pieces j, per class. (b, n, C) twice -> (b, n, C)."""
    places = torch.arange(weights.shape[1], device=weights.device)
    squares = (places[:, None] - places).square()[None, :, :, None]  # (1, i, j, 1)
    bumps = torch.exp(-squares / widths[:, None])
    heights = (weights * selectable[..., None])[:, None]
    return (bumps * heights).sum(2)


def pick_class(masks: Tensor, classes: Tensor) -> Tensor:
    """Pick the mask of one class in each row. (b, n, C), (b,) -> (b, n)."""
    return masks.gather(-1, classes[:, None, None].expand(-1, masks.shape[1], 1)).squeeze(-1)


def mask_losses(masks: Tensor, widths: Tensor, labels: Tensor, selectable: Tensor) -> dict[str, Tensor]:
    """Penalize size, width and switches of all classes' masks (b, n, C), mean over the rows.

    With s_c the mean of mask c: share s_y², others Σ_{c ≠ y} s_c², mass Σ_c s_c, width Σ_c mean_i (σ - 3)², smooth
    mean_c Σ_i (m_i - m_{i-1})².
    """
    inside = selectable[..., None]
    pieces = inside.sum(1).clamp(min=1)
    shares = masks.sum(1) / pieces  # (b, C)
    own = shares.gather(-1, labels[:, None]).squeeze(-1)
    pairs = inside[:, 1:] & inside[:, :-1]
    steps = ((masks[:, 1:] - masks[:, :-1]).square() * pairs).sum(1)
    return {
        "share": own.square().mean(),
        "others": (shares.square().sum(-1) - own.square()).mean(),
        "mass": shares.sum(-1).mean(),
        "width": (((widths - 3).square() * inside).sum(1) / pieces).sum(-1).mean(),
        "smooth": steps.mean(),
    }
