"""Turn selection scores into the hard mask that is shown. Pure functions on (b, n) tensors."""

from __future__ import annotations

import torch
from torch import Tensor


def argmax(logits: Tensor, selectable: Tensor) -> Tensor:
    """Select where "select" beats "leave". logits: (b, n, 2)."""
    return (logits[..., 1] > logits[..., 0]) & selectable


def threshold(scores: Tensor, selectable: Tensor, level: float | Tensor) -> Tensor:
    """Select where the score exceeds the level."""
    return (scores > level) & selectable


def _count_wanted(n_pieces: Tensor, share: float) -> Tensor:
    """Return ⌈share · n⌉, in double precision: in single precision 0.3 · 850 would give 256."""
    return torch.ceil(_to_double(n_pieces) * share - 1e-9).long().to(n_pieces.device)


def _to_double(values: Tensor) -> Tensor:
    """Convert to double precision, on the CPU if the device lacks it."""
    return (values if _has_double(values.device) else values.cpu()).double()


def _has_double(device: torch.device) -> bool:
    return device.type != "mps"


def topk(scores: Tensor, selectable: Tensor, share: float) -> Tensor:
    """Select exactly ⌈share · selectable⌉ pieces of each row, the highest scores; ties go to the earlier one."""
    wanted = _count_wanted(selectable.sum(-1), share)
    ranked = scores.masked_fill(~selectable, float("-inf")).argsort(dim=-1, descending=True, stable=True)
    rank = torch.empty_like(ranked).scatter_(
        -1, ranked, torch.arange(scores.shape[-1], device=scores.device).expand_as(ranked)
    )
    return (rank < wanted[:, None]) & selectable


def span(scores: Tensor, selectable: Tensor, share: float) -> Tensor:
    """Select the contiguous window of ⌈share · selectable⌉ document pieces with the highest total score."""
    mask = torch.zeros_like(selectable)
    for row, (score, allowed) in enumerate(zip(scores, selectable, strict=True)):
        places = allowed.nonzero().squeeze(-1)
        size = int(_count_wanted(allowed.sum(), share))
        if size > 0:
            totals = _to_double(score[places]).cumsum(0)
            totals = totals[size - 1 :] - torch.cat([totals.new_zeros(1), totals[: len(places) - size]])
            start = int(totals.argmax())
            mask[row, places[start : start + size]] = True
    return mask


def complete_words(mask: Tensor, words: Tensor, selectable: Tensor) -> Tensor:
    """Select all pieces of a word if any is selected, so that the words shown are the words read."""
    keys = words.clamp(min=0)
    # As integers: not every device can reduce booleans.
    touched = torch.zeros(mask.shape[0], int(keys.max()) + 1, dtype=torch.int32, device=mask.device)
    touched = touched.scatter_reduce(1, keys, (mask & selectable).int(), "amax")
    return touched.gather(1, keys).bool() & selectable
