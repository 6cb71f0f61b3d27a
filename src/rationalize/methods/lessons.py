"""Learn from gold rationales: the losses that several methods share, and what those losses are means over."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from rationalize.methods.base import Losses
from rationalize.methods.options import SupervisionConfig
from rationalize.methods.passes import Passes
from rationalize.methods.select_predict import SelectPredict
from rationalize.models.losses import select_cross_entropy, task_cross_entropy
from rationalize.text.batch import Batch


class GoldLessons(SelectPredict):
    """Learns the label from the full text and the gold rationale token by token (L_sup); the phases are a child's."""

    class Config(SelectPredict.Config):
        """Settings of methods that learn from gold rationales."""

        supervision: SupervisionConfig = SupervisionConfig()

    config: Config

    def weights(self) -> dict[str, float]:
        return {**super().weights(), "select": self.config.supervision.select_weight}

    def counts(self, batch: Batch) -> dict[str, float]:
        where = batch.selectable & batch.has_gold[:, None]
        return {**super().counts(batch), "select": count_lessons(batch.gold, where, self.config.supervision)}

    def supervised_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """The label from the full text, and the gold rationale token by token."""
        return gold_losses(*self.net.read(batch), self.config.supervision, batch)

    @classmethod
    def passes(cls, options: Any, n_classes: int) -> Passes:
        stated = super().passes(options, n_classes)
        return stated if options.selection.shared_encoder else stated.add(1, "supervised", selecting=1)


def gold_losses(
    select_logits: Tensor, class_logits: Tensor, chosen: SupervisionConfig, batch: Batch
) -> Losses:
    """L_sup: the label (`task`), and the gold rationale token by token (`select`).

    A row that is not annotated is no lesson in selecting nothing: it is left out of `select`, and the
    part is absent if no row has any.
    """
    losses = {"task": task_cross_entropy(class_logits, batch.labels)}
    where = batch.selectable & batch.has_gold[:, None]
    if bool(where.any()):
        losses["select"] = select_cross_entropy(select_logits, batch.gold, where, chosen.positive_weight)
    return losses


def count_lessons(wanted: Tensor, where: Tensor, chosen: SupervisionConfig) -> float:
    """Count what the token loss is a mean over: choices, gold ones as often as they weigh. Both (b, n) bool.

    Balanced weights belong to one batch, so micro-batches have their own.
    """
    gold = float((wanted & where).sum())
    others = float(where.sum()) - gold
    if chosen.positive_weight == "balanced":
        return max(1.0, others) / max(1.0, gold) * gold + others
    return gold * (chosen.positive_weight or 1.0) + others
