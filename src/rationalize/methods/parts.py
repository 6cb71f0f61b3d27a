"""Parts of objectives and explanations that several methods share."""

from __future__ import annotations

import torch
from torch import Tensor

from rationalize.methods.base import Losses, Method, Output
from rationalize.methods.options import ReadoutConfig, SelectionConfig
from rationalize.models.losses import continuity, sparsity
from rationalize.models.samplers import SAMPLERS
from rationalize.text.batch import Batch


def draw_mask(logits: Tensor, chosen: SelectionConfig, batch: Batch, generator: torch.Generator) -> Tensor:
    """Sample a training mask (b, n) from selection logits (b, n, 2), 0 outside the document."""
    return SAMPLERS[chosen.sampler](logits, chosen.temperature, generator) * batch.selectable


def shape_losses(mask: Tensor, chosen: SelectionConfig, batch: Batch) -> Losses:
    """Penalize a mask's deviation from its share (`sparsity`) and its switches (`continuity`)."""
    return {
        "sparsity": sparsity(mask, batch.selectable, chosen.share, chosen.sparsity),
        "continuity": continuity(mask, batch.selectable, chosen.continuity),
    }


def shape_weights(chosen: SelectionConfig) -> dict[str, float]:
    """Return the weights of `shape_losses`."""
    return {"sparsity": chosen.sparsity_weight, "continuity": chosen.continuity_weight}


def read_out(
    method: Method, chosen: ReadoutConfig, select_logits: Tensor, full_text: Tensor | None, batch: Batch
) -> Output:
    """Decode the selection and decide: on the selected words alone, or for an unfaithful method on the full text."""
    mask, scores = chosen.decode(select_logits, batch, method.cutoff)
    rationale = method.label_from_mask(batch, mask)
    decided = rationale if method.faithful or full_text is None else full_text
    return Output(mask, scores, decided, full_text=full_text, rationale=rationale)


def decide_on_text(full_text: Tensor, batch: Batch) -> Output:
    """Return what is known without looking for a rationale: the label from the full text."""
    nothing = torch.zeros_like(batch.selectable)
    return Output(nothing, nothing.float(), full_text, full_text=full_text)
