"""Maximize the remaining discrepancy."""

from __future__ import annotations

import torch
from torch import Tensor

from rationalize.config import Weight
from rationalize.methods.base import Losses, Phase, Turn
from rationalize.methods.passes import Passes, PhasePasses
from rationalize.methods.registry import About, register
from rationalize.methods.select_predict import ApartGame
from rationalize.models.frozen import freeze
from rationalize.models.losses import kl_divergence
from rationalize.models.masking import complement
from rationalize.text.batch import Batch


@register(
    About(
        name="mrd",
        title="MRD",
        supervision="none",
        reference="Liu et al., NeurIPS 2024",
        cite="Liu et al. 2024",
        faithful=True,
        headline="Selects words so that the rest of the text no longer predicts what the full text does.",
    )
)
class MRD(ApartGame):
    """A selector that judges the words it leaves out, so that spurious words are worth no more to it than noise.

    **Learns from** labels.

    **Objective** Predictor: min CE(y, q(x)) + CE(y, q(x without sg(m))) + λ_r · CE(y, q(x ⊗ sg(m))). Selector, with
    the predictor frozen and the mask drawn anew: max λ_d · KL(q(x) ‖ q(x without m)) - λ1 · |share(m) - α| -
    λ2 · switches(m).

    **Phases** `unsupervised` over all examples; on every batch `predict` moves the predictor, then `select` the
    selector.

    **Encoder passes** Select, complement and full text, in either turn; with λ_r the rationale too. An explanation
    selects, predicts and reads the full text. Two encoders in memory.

    **Inference** m by decoding (the best `share`) without noise; the label comes from the selected words alone, and is
    poor if the predictor never read such words alone; its label from the full text is reported beside it.

    **Defaults** λ_r = 0 as in the paper, where the predictor reads complements and full texts only. The paper (a GRU,
    lr 1e-4, batch 128) draws hard masks and holds the share over the batch with λ1 = λ2 = 6; the settings here are
    un_rat's, soft masks and the share per text.

    **Pitfalls** The divergence has no upper bound: with a confident predictor it outweighs the share. Early on
    the predictor predicts the same for every text, and there is nothing to gain. Soft masks leave a part of every word,
    and all parts together still determine the label, so that the discrepancy stays small (`sampler: gumbel_hard`
    removes whole pieces).
    """

    class Config(ApartGame.Config):
        """Settings of mrd."""

        discrepancy_weight: Weight = 1.0
        """λ_d."""
        rationale_weight: Weight = 0.0
        """λ_r: above 0, the predictor also learns to read rationales, for one more pass."""

    config: Config
    costs = Passes(train=(PhasePasses("unsupervised", 6, selecting=2),), explain=3, explain_selecting=1)

    def phases(self) -> tuple[Phase, ...]:
        predict = Turn("predict", self.predictor_loss, ("predictor",))
        select = Turn("select", self.selector_loss, ("selector",))
        return (Phase("unsupervised", "all", (predict, select)),)

    def weights(self) -> dict[str, float]:
        added = {"rationale": self.config.rationale_weight} if self.config.rationale_weight else {}
        return {**super().weights(), "discrepancy": self.config.discrepancy_weight, **added}

    def predictor_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """The label from the full text and from the complement of a fixed mask."""
        with torch.no_grad():
            mask = self.draw(batch, generator)
        readings = {"full_text": batch.selectable, "complement": complement(mask, batch)}
        if self.config.rationale_weight:
            readings["rationale"] = mask
        return {name: self.task_loss(batch, shown) for name, shown in readings.items()}

    def selector_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """The complement's divergence from the full text (to be raised), and the mask's shape."""
        mask = self.draw(batch, generator)
        with freeze(self.net):
            full_text = self.net.predict(batch, batch.selectable)
        remaining = kl_divergence(full_text, self.net.predict(batch, complement(mask, batch)))
        return {"discrepancy": -remaining, **self.shape_losses(batch, mask)}

    def read(self, batch: Batch) -> tuple[Tensor, Tensor | None]:
        """Return selection logits, and the predictor's class logits for the full text, which it has learned to read."""
        full_text = self.net.predict(batch, batch.selectable) if self.reads_whole else None
        return self.net.select(batch), full_text

    @classmethod
    def passes(cls, options: Config, n_classes: int) -> Passes:
        return super().passes(options, n_classes).add(1 if options.rationale_weight else 0, "unsupervised")
