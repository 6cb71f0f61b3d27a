"""Discriminatively aligned rationalization."""

from __future__ import annotations

from typing import Annotated

import torch
from pydantic import Field
from torch import Tensor, nn

from rationalize.config import Weight
from rationalize.methods.base import Losses, Phase, Turn
from rationalize.methods.passes import Passes, PhasePasses
from rationalize.methods.registry import About, register
from rationalize.methods.select_predict import SelectionGame
from rationalize.models.classifier import Classifier
from rationalize.models.encoder import EncoderFactory
from rationalize.models.frozen import freeze_weights
from rationalize.models.losses import task_cross_entropy
from rationalize.text.batch import Batch


@register
class DAR(SelectionGame):
    """Un-RAT with a second, incorruptible reader, so that the pair cannot agree on a private code.

    **Learns from** labels.

    **Objective** Teacher: min CE(y, T(x)), then frozen. Selector and predictor: L_un of un_rat + λ_T · CE(y, T(x ⊗ m)).

    **Phases** `pretrain`: the teacher on full texts. `unsupervised` over all examples; one turn moves selector and
    predictor, the teacher only passes the gradient on to the mask.

    **Encoder passes** The teacher alone, then select, predict, teacher; an explanation reports the teacher's reading
    of the full text. Two encoders in memory, three if selector and predictor are apart.

    **Inference** m by decoding (the best `share`) without noise; the label comes from the predictor's reading of the
    selected words.

    **Defaults** λ_T = 1, the weight of the task (released: 0.9 both); 3 epochs for the teacher (released: 20 of 120).
    The released code leaves the teacher's dropout on; here it judges without noise. It draws hard masks and holds the
    share over the batch; here both are as in un_rat.

    **Pitfalls** The teacher never saw hidden words, so it judges rationales out of its depth. What it relies on
    counts as convincing, shortcuts included.
    """

    about = About(
        name="dar",
        title="DAR",
        supervision="none",
        reference="Liu et al., ICDE 2024",
        cite="Liu et al. 2024",
        faithful=True,
        headline="The rationale must also convince a frozen classifier that only ever read full texts.",
        passes=Passes(
            train=(PhasePasses("pretrain", 1, epochs=3), PhasePasses("unsupervised", 3)), explain=3
        ),
    )

    class Config(SelectionGame.Config):
        """Settings of dar."""

        teacher_weight: Weight = 1.0
        """λ_T."""
        pretrain: Annotated[int, Field(ge=1)] = 3
        """Epochs of the teacher."""

    config: Config
    full_text_label = False  # the teacher gives it

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
        mask = self.draw(batch, generator)
        task = self.task_loss(batch, mask)
        with freeze_weights(self.teacher):
            teacher = task_cross_entropy(self.teacher.predict(batch, mask), batch.labels)
        return {"task": task, "teacher": teacher, **self.shape_losses(batch, mask)}

    def read(self, batch: Batch) -> tuple[Tensor, Tensor | None]:
        """Selection logits, and what the teacher makes of the full text."""
        return self.net.select(batch), self.teacher.read(batch)

    @classmethod
    def passes(cls, options: Config, n_classes: int) -> Passes:
        return super().passes(options, n_classes).pretrain(options.pretrain)
