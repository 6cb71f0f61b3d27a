"""Ways to hide a piece from the predictor. `shown` is (b, n) in [0, 1]; 1 means shown.

mix        the embedding is blended with that of [MASK]; positions and length stay visible (the paper's way)
zero       the embedding is scaled to nothing (the way of the GRU papers)
attention  the embedding stays, nobody may look at it; a fraction weakens the look by log(shown)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from rationalize.text.batch import Batch

if TYPE_CHECKING:
    from rationalize.models.reading import Encoder, Reading

MASKINGS = ("mix", "zero", "attention")


def shown_to_predictor(mask: Tensor, batch: Batch) -> Tensor:
    """The selected document pieces and everything that is always visible. Refuses to hide a whole row."""
    shown = torch.where(batch.visible, torch.ones_like(mask), mask * batch.selectable)
    if not bool((shown > 0).any(-1).all()):
        raise ValueError("a mask hides every piece of a row; skip such rows instead of reading nothing")
    return shown


def complement(mask: Tensor, batch: Batch) -> Tensor:
    """What a mask leaves of the document, in [0, 1]; specials and the query belong to neither side. (b, n)."""
    taken = mask.float() if mask.dtype == torch.bool else mask
    return (1 - taken) * batch.selectable


def read_masked(encoder: Encoder, batch: Batch, mask: Tensor, masking: str) -> Reading:
    """Run the encoder on the input as the mask (in [0, 1], or bool) leaves it."""
    embedded = encoder.embed(batch.input_ids)
    if mask.dtype == torch.bool and masking != "attention":  # encoders read hard attention faster than soft
        mask = mask.to(embedded.dtype)
    shown = shown_to_predictor(mask, batch)
    attention: Tensor = batch.attention
    if masking == "mix":
        kept = shown[..., None]
        embedded = kept * embedded + (1 - kept) * encoder.mask_embedding()
    elif masking == "zero":
        embedded = shown[..., None] * embedded
    elif masking == "attention":
        attention = shown * batch.attention
    else:
        raise ValueError(f"unknown masking {masking!r}; expected one of {', '.join(MASKINGS)}")
    reading: Reading = encoder(embedded, attention, batch.token_types)
    return reading
