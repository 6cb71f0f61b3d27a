"""Pieces of objectives that several methods share, written once."""

from __future__ import annotations

import torch
from torch import Tensor

from rationalize.methods.base import Losses, Method, Output
from rationalize.methods.options import ReadoutConfig, SelectionConfig, SupervisionConfig
from rationalize.models.losses import continuity, select_cross_entropy, sparsity, task_cross_entropy
from rationalize.models.rationale_net import RationaleNet
from rationalize.models.samplers import SAMPLERS
from rationalize.text.batch import Batch


def supervised_losses(net: RationaleNet, chosen: SupervisionConfig, batch: Batch) -> Losses:
    """L_sup: the label from the full text (`task`), the gold rationale token by token (`select`).

    A row that is not annotated is no lesson in selecting nothing: it is left out of `select`, and the part is absent
    where no row is annotated.
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


def count_lessons(wanted: Tensor, where: Tensor, chosen: SupervisionConfig) -> float:
    """What the token loss is a mean over: choices, gold ones as often as they weigh. Both (b, n) bool.

    Balanced weights are those of a batch, so that micro-batches have others.
    """
    gold = float((wanted & where).sum())
    others = float(where.sum()) - gold
    if chosen.positive_weight == "balanced":
        return max(1.0, others) / max(1.0, gold) * gold + others
    return gold * (chosen.positive_weight or 1.0) + others


def count_gold_pieces(batch: Batch, chosen: SupervisionConfig) -> dict[str, float]:
    """What `select` of `gold_losses` is a mean over."""
    return {"select": count_lessons(batch.gold, batch.selectable & batch.has_gold[:, None], chosen)}


def draw_mask(logits: Tensor, chosen: SelectionConfig, batch: Batch, generator: torch.Generator) -> Tensor:
    """A mask (b, n) as training shows it: sampled from selection logits (b, n, 2), 0 outside the document."""
    return SAMPLERS[chosen.sampler](logits, chosen.temperature, generator) * batch.selectable


def shape_losses(mask: Tensor, chosen: SelectionConfig, batch: Batch) -> Losses:
    """What is asked of a mask whatever it says: its share (`sparsity`) and smoothness (`continuity`)."""
    return {
        "sparsity": sparsity(mask, batch.selectable, chosen.share, chosen.sparsity),
        "continuity": continuity(mask, batch.selectable, chosen.continuity),
    }


def read_out(
    method: Method, chosen: ReadoutConfig, select_logits: Tensor, full_text: Tensor | None, batch: Batch
) -> Output:
    """Decode the selection and decide: on the selected words alone, or for an unfaithful method on the full text."""
    mask, scores = chosen.decode(select_logits, batch)
    rationale = method.label_from_mask(batch, mask)
    decided = rationale if method.faithful or full_text is None else full_text
    return Output(mask, scores, decided, full_text=full_text, rationale=rationale)


def decide_on_text(full_text: Tensor, batch: Batch) -> Output:
    """What is known without looking for a rationale: the label from the full text."""
    nothing = torch.zeros_like(batch.selectable)
    return Output(nothing, nothing.float(), full_text, full_text=full_text)
