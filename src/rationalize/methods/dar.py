"""Discriminatively aligned rationalization."""

from __future__ import annotations

from typing import Annotated

import torch
from pydantic import Field
from torch import nn

from rationalize.config import Weight
from rationalize.methods.base import Losses, Output, Phase, Turn
from rationalize.methods.parts import draw_mask, explain_batch, shape_losses
from rationalize.methods.registry import register
from rationalize.methods.un_rat import UnRAT
from rationalize.models.classifier import Classifier
from rationalize.models.encoder import EncoderFactory
from rationalize.models.frozen import freeze_weights
from rationalize.models.losses import task_cross_entropy
from rationalize.text.batch import Batch


@register(
    "dar",
    title="DAR",
    supervision="none",
    reference="Liu et al., ICDE 2024",
    faithful=True,
    headline="The rationale must also convince a frozen classifier that only ever read full texts.",
    passes_train="1 (pretraining) or 3",
    passes_explain="3",
)
class DAR(UnRAT):
    """Un-RAT with a second, incorruptible reader, so that the pair cannot agree on a private code.

    **Learns from** labels.

    **Objective** Teacher: min CE(y, T(x)), then frozen. Selector and predictor: L_un of un_rat + λ_T · CE(y, T(x ⊗ m)).

    **Phases** `pretrain`: the teacher on full texts. `unsupervised` over all examples; one turn moves selector and
    predictor, the teacher only passes the gradient on to the mask.

    **Encoder passes** 1 in pretraining, then 3 per step (select, predict, teacher); 3 per explanation (the teacher's
    reading of the full text is reported). Two encoders in memory, three if selector and predictor are apart.

    **Inference** m by decoding without noise; the label comes from the predictor's reading of the selected words.

    **Defaults** λ_T = 1, the weight of the task (released: 0.9 both); 3 epochs for the teacher (released: 20 of
    120). The released code leaves the teacher's dropout on; here it judges without noise.

    **Pitfalls** The teacher never saw hidden words, so it judges rationales out of its depth. What it relies on
    counts as convincing, shortcuts included.
    """

    class Config(UnRAT.Config):
        """Settings of dar."""

        teacher_weight: Weight = 1.0
        """λ_T."""
        pretrain: Annotated[int, Field(ge=1)] = 3
        """Epochs of the teacher."""

    config: Config

    def __init__(self, config: Config, encoders: EncoderFactory, n_classes: int) -> None:
        super().__init__(config, encoders, n_classes)
        self.teacher = Classifier(encoders, n_classes, config.selection.masking)

    @property
    def pretrain_epochs(self) -> int:
        return self.config.pretrain

    def players(self) -> dict[str, list[nn.Parameter]]:
        return {"model": list(self.net.parameters()), "teacher": list(self.teacher.parameters())}

    def phases(self) -> tuple[Phase, ...]:
        teach = Turn("teach", self.teacher_loss, ("teacher",))
        return (Phase("pretrain", "all", (teach,), when="pretrain"), *super().phases())

    def weights(self) -> dict[str, float]:
        return {**super().weights(), "teacher": self.config.teacher_weight}

    def teacher_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """The label from the full text."""
        return {"task": task_cross_entropy(self.teacher.read(batch), batch.labels)}

    def unsupervised_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """L_un, and what the teacher makes of the same rationale."""
        mask = draw_mask(self.net.select(batch), self.config.selection, batch, generator)
        task = task_cross_entropy(self.net.predict(batch, mask), batch.labels)
        with freeze_weights(self.teacher):
            teacher = task_cross_entropy(self.teacher.predict(batch, mask), batch.labels)
        return {"task": task, "teacher": teacher, **shape_losses(mask, self.config.selection, batch)}

    def explain(self, batch: Batch) -> Output:
        return explain_batch(self.net, self.config.selection, batch, full_text=self.teacher.read(batch))
