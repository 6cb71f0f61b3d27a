"""Discriminatively aligned rationalization."""

from __future__ import annotations

import torch

from rationalize.config import Weight
from rationalize.methods.base import Losses, Phase
from rationalize.methods.passes import PhasePasses
from rationalize.methods.registry import About, register
from rationalize.methods.teaching import TaughtGame, count_taught
from rationalize.models.frozen import freeze_weights
from rationalize.models.losses import task_cross_entropy
from rationalize.text.batch import Batch


@register(
    About(
        name="dar",
        title="DAR",
        supervision="none",
        reference="Liu et al., ICDE 2024",
        cite="Liu et al. 2024",
        faithful=True,
        headline="The rationale must also convince a frozen classifier that only ever read full texts.",
    )
)
class DAR(TaughtGame):
    """Un-RAT with a second reader that the pair cannot influence, so that they cannot agree on a private code.

    **Learns from** labels.

    **Objective** Teacher: min CE(y, T(x)), then frozen. Selector and predictor: L_un of un_rat + λ_T · CE(y, T(x ⊗ m)).

    **Phases** `pretrain`: the teacher on full texts. `unsupervised` over all examples; one turn moves selector and
    predictor, the teacher only passes the gradient on to the mask.

    **Encoder passes** The teacher alone, then select, predict, teacher; an explanation reports the teacher's reading
    of the full text. Two encoders in memory, three if selector and predictor are apart.

    **Inference** m by decoding (the best `share`) without noise; the label comes from the predictor's reading of the
    selected words.

    **Defaults** λ_T = 1, the weight of the task (released: 0.9 both); 3 epochs for the teacher (released: 20 of 120).
    The released code keeps the teacher's dropout on; here it judges without noise. The released code also draws hard
    masks and holds the share over the batch; here both are as in un_rat.

    **Pitfalls** The teacher never saw texts with hidden words, so rationales are unfamiliar to it. Whatever it relies
    on counts as convincing, shortcuts included.
    """

    class Config(TaughtGame.Config):
        """Settings of dar."""

        teacher_weight: Weight = 1.0
        """λ_T."""

    config: Config
    costs = count_taught(3, PhasePasses("unsupervised", 3, selecting=1))

    def phases(self) -> tuple[Phase, ...]:
        return (self.teacher_phase(), *super().phases())

    def weights(self) -> dict[str, float]:
        return {**super().weights(), "teacher": self.config.teacher_weight}

    def unsupervised_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """L_un, and the teacher's loss on the same rationale."""
        mask = self.draw(batch, generator)
        task = self.task_loss(batch, mask)
        with freeze_weights(self.teacher):
            teacher = task_cross_entropy(self.teacher.predict(batch, mask), batch.labels)
        return {"task": task, "teacher": teacher, **self.shape_losses(batch, mask)}
