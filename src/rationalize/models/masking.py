"""Ways to hide a piece from the predictor. `shown` is (b, n) in [0, 1]; 1 means shown.

mix        the embedding is blended with that of [MASK]; positions and length stay visible (as in the paper)
zero       the embedding is scaled to zero (as in the GRU papers)
attention  the embedding stays, but no piece attends to it; a fraction adds log(shown) to the attention scores

**Gradients of a hard mask** Its values are exactly 0 and 1; the gradient is a choice. `mix` and `zero` use the
derivative of the blend. With `attention`, a shown piece has the derivative with respect to log(shown). A hidden piece,
whose derivative is unbounded, has instead the difference that opening it would make in every layer's attention, all
else being equal (`_gated_attention`), and in mean pooling: its vector's distance from the mean. With attention of 0
alone, a selector would never learn about unselected pieces. On MiniLM these gradients predict how showing a hidden
piece changes the pooled vector (correlation above 0.8); those of `mix` at the same mask do not. (A GRU has no
attention: there `attention` scales embeddings, as `zero` does.)

**Cost** A mask with a gradient is read at full length: one pass, and two more products in each layer's attention.
Without one (explanations, fixed masks, teachers, shortcuts), an encoder that can pack reads the shown pieces alone:
one pass over that share of the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from rationalize.text.batch import Batch, cut_batches

if TYPE_CHECKING:
    from rationalize.models.reading import Encoder, Reading

PACKED_PADDING = 0.15
"""Largest share of padding among shown pieces on a CPU: rows that show fewer are read apart."""
FEW_PIECES = 128
"""So many are read at once in any case: another call would cost more than padding."""
MASKINGS = ("mix", "zero", "attention")


def show_to_predictor(mask: Tensor, batch: Batch) -> Tensor:
    """Add everything that is always visible to the selected document pieces. Refuses to hide a whole row."""
    shown = torch.where(batch.visible, torch.ones_like(mask), mask * batch.selectable)
    if not bool((shown > 0).any(-1).all()):
        raise ValueError("a mask hides every piece of a row; skip such rows instead of reading nothing")
    return shown


def complement(mask: Tensor, batch: Batch) -> Tensor:
    """Return the document pieces outside a mask, in [0, 1]; specials and the query belong to neither side. (b, n)."""
    taken = mask.float() if mask.dtype == torch.bool else mask
    return (1 - taken) * batch.selectable


def pool_masked(encoder: Encoder, batch: Batch, mask: Tensor, masking: str) -> Tensor:
    """Read what the mask (in [0, 1], or bool) shows, and pool it to one vector per row (b, d).

    Pieces without attention are left out of the input if that changes neither the vector nor a gradient.
    """
    if masking == "attention" and encoder.packs and not _wants_gradient(mask) and is_hard(mask):
        return _read_packed(encoder, batch, show_to_predictor(mask, batch))
    return read_masked(encoder, batch, mask, masking).pooled


def _wants_gradient(mask: Tensor) -> bool:
    return mask.requires_grad and torch.is_grad_enabled()


def is_hard(mask: Tensor) -> bool:
    """Return whether every entry is 0 or 1."""
    return mask.dtype == torch.bool or bool(((mask == 0) | (mask == 1)).all())


def _read_packed(encoder: Encoder, batch: Batch, shown: Tensor) -> Tensor:
    """Read the shown pieces alone, each at its own position; only for masks without a gradient."""
    attention = shown * batch.attention
    # Other devices read wide inputs as fast as narrow ones, and asking costs a wait. A training reads its batch at
    # once: what dropout draws does not depend on how rows are grouped.
    if attention.device.type != "cpu" or torch.is_grad_enabled():
        return _pack_rows(encoder, batch, attention)
    counts = (attention > 0).sum(-1)
    cut = cut_batches(counts.tolist(), None, padding=PACKED_PADDING, least=FEW_PIECES)
    if len(cut) == 1:
        return _pack_rows(encoder, batch, attention)
    groups = [torch.tensor(rows, device=attention.device) for rows in cut]
    vectors = torch.cat([_pack_rows(encoder, batch.rows(rows), attention[rows]) for rows in groups])
    return vectors[torch.cat(groups).argsort()]


def _pack_rows(encoder: Encoder, batch: Batch, attention: Tensor) -> Tensor:
    """Read the pieces with attention alone, padded to the row that has most of them."""
    n = int((attention > 0).sum(-1).max())
    places = (attention <= 0).to(torch.int8).argsort(dim=-1, stable=True)[:, :n]

    def pack(tensor: Tensor) -> Tensor:
        return tensor.gather(1, places)

    embedded = encoder.embed(pack(batch.input_ids))
    reading: Reading = encoder(embedded, pack(attention), pack(batch.token_types), places)
    return reading.pooled


def read_masked(encoder: Encoder, batch: Batch, mask: Tensor, masking: str) -> Reading:
    """Run the encoder on what the mask (in [0, 1], or bool) shows."""
    embedded = encoder.embed(batch.input_ids)
    if mask.dtype == torch.bool and masking != "attention":  # encoders read hard attention faster than soft
        mask = mask.to(embedded.dtype)
    shown = show_to_predictor(mask, batch)
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
