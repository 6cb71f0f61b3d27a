"""Pieces of objectives that several methods share, written once."""

from __future__ import annotations

import torch
from torch import Tensor

from rationalize.methods.base import Losses, Method, Output
from rationalize.methods.options import ReadoutConfig, SelectionConfig, SupervisionConfig
from rationalize.models.losses import (
    continuity,
    select_cross_entropy,
    sparsity,
    task_cross_entropy,
    uniform_divergence,
)
from rationalize.models.rationale_net import RationaleNet
from rationalize.models.samplers import SAMPLERS
from rationalize.text.batch import Batch


def supervised_losses(net: RationaleNet, chosen: SupervisionConfig, batch: Batch) -> Losses:
    """L_sup: the label from the full text (`task`), the gold rationale token by token (`select`).

    A row without gold in its window is not a lesson in selecting nothing: it is left out of `select`, and the
    part is absent where no row has any.
    """
    return gold_losses(*net.read(batch), chosen, batch)


def gold_losses(
    select_logits: Tensor, class_logits: Tensor, chosen: SupervisionConfig, batch: Batch
) -> Losses:
    """L_sup of logits that are at hand already."""
    losses = {"task": task_cross_entropy(class_logits, batch.labels)}
    where = batch.selectable & batch.has_gold[:, None]
    if bool(where.any()):
        losses["select"] = select_cross_entropy(select_logits, batch.gold, where, chosen.positive_weight)
    return losses


def unsupervised_losses(
    net: RationaleNet, chosen: SelectionConfig, batch: Batch, generator: torch.Generator
) -> Losses:
    """L_un: the label from a sampled rationale (`task`), and its share and smoothness."""
    mask = draw_mask(net.select(batch), chosen, batch, generator)
    task = task_cross_entropy(net.predict(batch, mask), batch.labels)
    return {"task": task, **shape_losses(mask, chosen, batch)}


def draw_mask(logits: Tensor, chosen: SelectionConfig, batch: Batch, generator: torch.Generator) -> Tensor:
    """A mask (b, n) as training shows it: sampled from selection logits (b, n, 2), 0 outside the document."""
    return SAMPLERS[chosen.sampler](logits, chosen.temperature, generator) * batch.selectable


def shape_losses(mask: Tensor, chosen: SelectionConfig, batch: Batch) -> Losses:
    """What is asked of a mask whatever it says: its share (`sparsity`) and smoothness (`continuity`)."""
    return {
        "sparsity": sparsity(mask, batch.selectable, chosen.share, chosen.sparsity),
        "continuity": continuity(mask, batch.selectable, chosen.continuity),
    }


def explain_batch(
    net: RationaleNet, chosen: ReadoutConfig, batch: Batch, full_text: Tensor | None = None
) -> Output:
    """Decode the selector's mask and decide on the selected words alone."""
    mask, scores = chosen.decode(net.select(batch), batch)
    rationale = net.predict(batch, mask)
    return Output(mask, scores, rationale, full_text=full_text, rationale=rationale)


def uniform_losses(method: Method, batch: Batch, direction: str = "uniform_to_q") -> Losses:
    """L_unif: indecision of the predictor when it sees only the shortcuts (`uniform`).

    Rows without a shortcut are left out, never shown as a text with everything hidden; without any, there is no
    such part.
    """
    rows = batch.shortcuts.any(-1)
    if not bool(rows.any()):
        return {}
    part = batch.rows(rows)
    return {"uniform": uniform_divergence(method.label_from_mask(part, part.shortcuts), direction)}
