"""Minimum conditional dependence."""

from __future__ import annotations

from typing import Annotated, Literal

import torch
from pydantic import Field

from rationalize.config import Weight
from rationalize.methods.base import Losses, Phase, Turn
from rationalize.methods.options import HardApartSelectionConfig
from rationalize.methods.passes import PhasePasses
from rationalize.methods.registry import About, register
from rationalize.methods.select_predict import ApartGame
from rationalize.methods.teaching import TaughtGame, count_taught
from rationalize.models.frozen import freeze
from rationalize.models.losses import js_divergence, kl_divergence
from rationalize.text.batch import Batch

DIVERGENCES = {"kl": kl_divergence, "js": js_divergence}


@register(
    About(
        name="mcd",
        title="MCD",
        supervision="none",
        reference="Liu et al., NeurIPS 2023 (the recipe for pretrained encoders)",
        cite="Liu et al. 2023",
        faithful=True,
        headline="From the selected words, the predictor must predict what a classifier does from the full text.",
    )
)
class MCD(TaughtGame, ApartGame):
    """A selector that never sees the label: it looks for words that make the label independent of the rest of the text.

    **Learns from** labels.

    **Objective** Teacher: min CE(y, p(x)), then frozen. Predictor: min CE(y, q(x ⊗ sg(m))). Selector, with the
    predictor frozen and the mask drawn anew: min λ_d · KL(p(x) ‖ q(x ⊗ m)) + λ1 · |share(m) - α| +
    λ2 · switches(m). At its minimum y ⊥ (x without the rationale) | rationale.

    **Phases** `pretrain`: the teacher on full texts. `distil`, on every batch: `predict` moves the predictor, then
    `select` the selector.

    **Encoder passes** The teacher alone, then 2 to predict and 3 to select; an explanation selects, predicts, and
    reports the teacher's reading of the full text. Three encoders in memory.

    **Inference** m by decoding (the best `share`) without noise; the label comes from the selected words alone. The
    teacher's label from the full text is reported beside it.

    **Defaults** Three encoders and a frozen teacher are the author's recipe for pretrained encoders, where training p
    and q as one is unstable; 5 epochs for the teacher (the author: 11 of 91), each at a fifth of the cost. Hard masks
    as released. λ1 = 1 and λ2 = 0.1 are un_rat's, and the share is held per text; the author has λ1 = 18 and λ2 = 12 on
    the same two quantities, the share taken over the batch, so that they weigh far more against the divergence there
    (`sparsity: batch` and those weights come close to that).

    **Pitfalls** It is only as good as the teacher: a shortcut that the teacher relies on belongs to the rationale. If
    the teacher is always certain, the divergence requires little more than the label does.
    """

    class Config(ApartGame.Config, TaughtGame.Config):
        """Settings of mcd."""

        selection: HardApartSelectionConfig = HardApartSelectionConfig()
        divergence: Literal["kl", "js"] = "kl"
        """How the two readings are compared; js is bounded."""
        divergence_weight: Weight = 1.0
        """λ_d."""
        pretrain: Annotated[int, Field(ge=1)] = 5
        """Epochs of the teacher."""

    config: Config
    costs = count_taught(5, PhasePasses("distil", 5, selecting=2))

    def phases(self) -> tuple[Phase, ...]:
        predict = Turn("predict", self.predictor_loss, ("predictor",))
        select = Turn("select", self.selector_loss, ("selector",))
        return (self.teacher_phase(), Phase("distil", "all", (predict, select)))

    def weights(self) -> dict[str, float]:
        return {"divergence": self.config.divergence_weight, **super().weights()}

    def selector_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """The divergence of the rationale's reading from that of the full text, and the mask's shape."""
        mask = self.draw(batch, generator)
        with freeze(self.teacher):
            full_text = self.teacher.read(batch)
        divergence = DIVERGENCES[self.config.divergence](full_text, self.net.predict(batch, mask))
        return {"divergence": divergence, **self.shape_losses(batch, mask)}
