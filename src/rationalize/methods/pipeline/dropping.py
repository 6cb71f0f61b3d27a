"""Hide pieces by deleting them from the input; the rest moves up."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from rationalize.models.units import Units
from rationalize.text.batch import Batch


def drop_hidden(batch: Batch, mask: Tensor) -> Batch:
    """Delete the document pieces that the mask (b, n) hides."""
    keep = batch.visible | (batch.selectable & (mask > 0))
    width = int(keep.sum(-1).max())
    order = (~keep).long().argsort(dim=-1, stable=True)[:, :width]
    there = torch.arange(width, device=keep.device) < keep.sum(-1, keepdim=True)

    def move(tensor: Tensor, fill: int) -> Tensor:
        return tensor.gather(-1, order).masked_fill(~there, fill)

    gold = move(batch.gold, 0)
    return replace(
        batch,
        input_ids=move(batch.input_ids, 0),
        token_types=move(batch.token_types, 0),
        attention=there,
        selectable=move(batch.selectable, 0),
        visible=move(batch.visible, 0),
        words=move(batch.words, -1),
        gold=gold,
        has_gold=gold.any(-1),
        shortcuts=move(batch.shortcuts, 0),
        sentences=move(batch.sentences, -1),
    )


def split_units(batch: Batch, units: Units) -> tuple[Batch, Tensor, Tensor]:
    """Turn every unit into an input, with the specials and the query of its text.

    Returns the batch of s rows, each row's text and the unit's number in it, both (s,). A text without units becomes
    one empty input.
    """
    present = units.present.clone()
    present[:, 0] = True
    texts, numbers = present.nonzero().unbind(-1)
    own = units.inside[texts] & (units.index[texts] == numbers[:, None])
    return drop_hidden(batch.rows(texts), own), texts, numbers
