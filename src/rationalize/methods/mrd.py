"""Maximize the remaining discrepancy."""

from __future__ import annotations

import torch
from torch import nn

from rationalize.config import Weight
from rationalize.methods.base import Losses, Output, Phase, Turn
from rationalize.methods.options import ApartSelectionConfig
from rationalize.methods.parts import draw_mask, explain_batch, shape_losses
from rationalize.methods.registry import register
from rationalize.methods.un_rat import UnRAT
from rationalize.models.frozen import freeze
from rationalize.models.losses import kl_divergence, task_cross_entropy
from rationalize.models.masking import complement
from rationalize.text.batch import Batch


@register(
    "mrd",
    title="MRD",
    supervision="none",
    reference="Liu et al., NeurIPS 2024",
    faithful=True,
    headline="Words are selected so that the rest of the text no longer says what the whole did.",
    passes_train="6",
    passes_explain="3",
)
class MRD(UnRAT):
    """A selector that looks at what it leaves behind: spurious words are worth no more to it than noise.

    **Learns from** labels.

    **Objective** Predictor: min CE(y, q(x)) + CE(y, q(x without sg(m))) + λ_r · CE(y, q(x ⊗ sg(m))). Selector, with
    the predictor frozen and the mask drawn anew: max λ_d · KL(q(x) ‖ q(x without m)) - λ1 · |share(m) - α| -
    λ2 · switches(m).

    **Phases** `unsupervised` over all examples; on every batch `predict` moves the predictor, then `select` the
    selector.

    **Encoder passes** 6 per training step (select, complement and full text, for either turn), 3 per explanation
    (select, predict, full text). Two encoders in memory.

    **Inference** m by decoding without noise; the label comes from the selected words alone, and is poor where the
    predictor never read such words alone; what it says of the full text is reported beside it.

    **Defaults** λ_r = 0 as in the paper, where the predictor reads complements and full texts only. The paper (a
    GRU, lr 1e-4, batch 128) draws hard masks and has λ1 = λ2 = 6; the settings here are un_rat's.

    **Pitfalls** The divergence has no upper bound: a predictor that is sure of itself makes it outweigh the share.
    Early on the predictor says the same of everything and there is nothing to gain.
    """

    class Config(UnRAT.Config):
        """Settings of mrd."""

        selection: ApartSelectionConfig = ApartSelectionConfig()
        discrepancy_weight: Weight = 1.0
        """λ_d."""
        rationale_weight: Weight = 0.0
        """λ_r: above 0, the predictor also learns to read rationales, for a seventh pass."""

    config: Config

    def players(self) -> dict[str, list[nn.Parameter]]:
        return self.net.players()

    def phases(self) -> tuple[Phase, ...]:
        predict = Turn("predict", self.predictor_loss, ("predictor",))
        select = Turn("select", self.selector_loss, ("selector",))
        return (Phase("unsupervised", "all", (predict, select)),)

    def weights(self) -> dict[str, float]:
        added = {"rationale": self.config.rationale_weight} if self.config.rationale_weight else {}
        return {**super().weights(), "discrepancy": self.config.discrepancy_weight, **added}

    def predictor_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """The label from the full text and from what a mask, taken as given, leaves of it."""
        with torch.no_grad():
            mask = draw_mask(self.net.select(batch), self.config.selection, batch, generator)
        readings = {"full_text": batch.selectable, "complement": complement(mask, batch)}
        if self.config.rationale_weight:
            readings["rationale"] = mask
        return {
            name: task_cross_entropy(self.net.predict(batch, shown), batch.labels)
            for name, shown in readings.items()
        }

    def selector_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """How little the complement says of what the full text says (less is better), and the mask's shape."""
        mask = draw_mask(self.net.select(batch), self.config.selection, batch, generator)
        with freeze(self.net):
            full_text = self.net.predict(batch, batch.selectable)
        remaining = kl_divergence(full_text, self.net.predict(batch, complement(mask, batch)))
        return {"discrepancy": -remaining, **shape_losses(mask, self.config.selection, batch)}

    def explain(self, batch: Batch) -> Output:
        full_text = self.net.predict(batch, batch.selectable)
        return explain_batch(self.net, self.config.selection, batch, full_text=full_text)
