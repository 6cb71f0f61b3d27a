"""Hiding by deletion: what is not kept is taken out of the input, and the rest moves up."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from rationalize.models.units import Units
from rationalize.text.batch import Batch


def drop_hidden(batch: Batch, mask: Tensor) -> Batch:
    """The batch without the document pieces that the mask (b, n) does not keep."""
    keep = batch.visible | (batch.selectable & (mask > 0))
    width = int(keep.sum(-1).max())
    order = (~keep).long().argsort(dim=-1, stable=True)[:, :width]
    there = torch.arange(width, device=keep.device) < keep.sum(-1, keepdim=True)

    def moved(tensor: Tensor, fill: int) -> Tensor:
        return tensor.gather(-1, order).masked_fill(~there, fill)

    gold = moved(batch.gold, 0)
    return replace(
        batch,
        input_ids=moved(batch.input_ids, 0),
        token_types=moved(batch.token_types, 0),
        attention=there,
        selectable=moved(batch.selectable, 0),
        visible=moved(batch.visible, 0),
        words=moved(batch.words, -1),
        gold=gold,
        has_gold=gold.any(-1),
        shortcuts=moved(batch.shortcuts, 0),
        sentences=moved(batch.sentences, -1),
    )


def unit_rows(batch: Batch, units: Units) -> tuple[Batch, Tensor, Tensor]:
    """Every unit as an input of its own, with the specials and the query of its text.

    Returns the batch of s rows, each one's text and its number there, both (s,). A text without units gives one
    empty input.
    """
    present = units.present.clone()
    present[:, 0] = True
    texts, numbers = present.nonzero().unbind(-1)
    own = units.inside[texts] & (units.index[texts] == numbers[:, None])
    return drop_hidden(batch.rows(texts), own), texts, numbers
