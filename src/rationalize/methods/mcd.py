"""Minimum conditional dependence."""

from __future__ import annotations

from typing import Annotated, Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from rationalize.config import Strict, Weight
from rationalize.methods.base import Losses, Method, Output, Phase, Turn
from rationalize.methods.options import ApartSelectionConfig
from rationalize.methods.parts import draw_mask, explain_batch, shape_losses
from rationalize.methods.registry import register
from rationalize.models.classifier import Classifier
from rationalize.models.encoder import EncoderFactory
from rationalize.models.frozen import freeze
from rationalize.models.losses import js_divergence, kl_divergence, task_cross_entropy
from rationalize.models.rationale_net import RationaleNet
from rationalize.text.batch import Batch

DIVERGENCES = {"kl": kl_divergence, "js": js_divergence}


@register(
    "mcd",
    title="MCD",
    supervision="none",
    reference="Liu et al., NeurIPS 2023 (the recipe for pretrained encoders)",
    faithful=True,
    headline="The selected words must let the predictor say what a classifier says of the whole text.",
    passes_train="1 (pretraining) or 5",
    passes_explain="3",
)
class MCD(Method):
    """A selector that never sees the label: it looks for words that separate it from the rest of the text.

    **Learns from** labels.

    **Objective** Teacher: min CE(y, p(x)), then frozen. Predictor: min CE(y, q(x ⊗ sg(m))). Selector, with the
    predictor frozen and the mask drawn anew: min λ_d · KL(p(x) ‖ q(x ⊗ m)) + λ1 · |share(m) - α| +
    λ2 · switches(m). At its minimum y ⊥ (x without the rationale) | rationale.

    **Phases** `pretrain`: the teacher on full texts. `distil`, on every batch: `predict` moves the predictor, then
    `select` the selector.

    **Encoder passes** 1 in pretraining, then 5 per step (2 to predict, 3 to select); 3 per explanation (select,
    predict, and the teacher's reading of the full text). Three encoders in memory.

    **Inference** m by decoding without noise; the label comes from the selected words alone. What the teacher says
    of the full text is reported beside it.

    **Defaults** Three encoders and a frozen teacher are the author's recipe for pretrained encoders, where training
    p and q as one is unstable; 5 epochs for the teacher (the author: 11 of 91), at a fifth of a step's price. Hard
    masks as released. The author's λ1 = 18 and λ2 = 12 go with another normalization.

    **Pitfalls** It is as good as the teacher is: a shortcut that the teacher relies on belongs to the rationale.
    Where the teacher is sure of everything, the divergence asks for little more than the label does.
    """

    class Config(Strict):
        """Settings of mcd."""

        selection: ApartSelectionConfig = ApartSelectionConfig(sampler="gumbel_hard")
        divergence: Literal["kl", "js"] = "kl"
        """How the two readings are compared; js is bounded."""
        divergence_weight: Weight = 1.0
        """λ_d."""
        pretrain: Annotated[int, Field(ge=1)] = 5
        """Epochs of the teacher."""

    config: Config

    def __init__(self, config: Config, encoders: EncoderFactory, n_classes: int) -> None:
        super().__init__(config, encoders, n_classes)
        masking = config.selection.masking
        self.net = RationaleNet(encoders, n_classes, shared=False, masking=masking)
        self.teacher = Classifier(encoders, n_classes, masking)

    @property
    def pretrain_epochs(self) -> int:
        return self.config.pretrain

    def players(self) -> dict[str, list[nn.Parameter]]:
        return {**self.net.players(), "teacher": list(self.teacher.parameters())}

    def phases(self) -> tuple[Phase, ...]:
        teach = Turn("teach", self.teacher_loss, ("teacher",))
        predict = Turn("predict", self.predictor_loss, ("predictor",))
        select = Turn("select", self.selector_loss, ("selector",))
        return (
            Phase("pretrain", "all", (teach,), when="pretrain"),
            Phase("distil", "all", (predict, select)),
        )

    def weights(self) -> dict[str, float]:
        chosen = self.config.selection
        return {
            "divergence": self.config.divergence_weight,
            "sparsity": chosen.sparsity_weight,
            "continuity": chosen.continuity_weight,
        }

    def teacher_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """The label from the full text."""
        return {"task": task_cross_entropy(self.teacher.read(batch), batch.labels)}

    def predictor_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """The label from a rationale that is taken as given."""
        with torch.no_grad():
            mask = draw_mask(self.net.select(batch), self.config.selection, batch, generator)
        return {"task": task_cross_entropy(self.net.predict(batch, mask), batch.labels)}

    def selector_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """How far the reading of the rationale is from that of the full text, and the mask's shape."""
        mask = draw_mask(self.net.select(batch), self.config.selection, batch, generator)
        with freeze(self.teacher):
            full_text = self.teacher.read(batch)
        divergence = DIVERGENCES[self.config.divergence](full_text, self.net.predict(batch, mask))
        return {"divergence": divergence, **shape_losses(mask, self.config.selection, batch)}

    def explain(self, batch: Batch) -> Output:
        return explain_batch(self.net, self.config.selection, batch, full_text=self.teacher.read(batch))

    def label_from_mask(self, batch: Batch, mask: Tensor) -> Tensor:
        return self.net.predict(batch, mask)
