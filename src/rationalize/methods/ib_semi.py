"""Information bottleneck with gold rationales for some of the examples."""

from __future__ import annotations

import torch

from rationalize.methods.base import Losses, Phase, Turn, gold_then_rest
from rationalize.methods.ib import IB
from rationalize.methods.lessons import count_lessons
from rationalize.methods.options import SupervisionConfig
from rationalize.methods.passes import count_gold_then_rest
from rationalize.methods.registry import About, register
from rationalize.models.losses import select_cross_entropy
from rationalize.models.samplers import as_pair
from rationalize.text.batch import Batch


@register(
    About(
        name="ib_semi",
        title="IB (25 % rationales)",
        supervision="part",
        reference="Paranjape et al., EMNLP 2020",
        cite="Paranjape et al. 2020",
        faithful=True,
        headline="IB whose gates are given the gold sentences where they are known, and held to the prior elsewhere.",
    )
)
class IBSemi(IB):
    """IB, with the prior replaced by the gold sentences on annotated examples.

    **Learns from** labels everywhere, gold rationales on `data.gold_share` of the examples.

    **Objective** CE(y, q(x, z)) + BCE(p_j, gold_j) on the gold pool, mean over sentences; a sentence is gold if it
    shares a piece with the rationale. On the rest the objective of `ib`. The prior is not used where gold is known.

    **Phases** `supervised` over the gold pool, then `unsupervised` over the rest, every epoch; one turn each,
    moving everything. `training.interleave` mixes their batches.

    **Encoder passes** As ib.

    **Inference** as `ib`: the ⌈π·S⌉ best sentences, the label from them alone.

    **Defaults** as `ib`; weight 1 of the token loss and 25 % gold rationales as in the papers. The annotated
    examples are fixed once, by the seed; the released code takes the first quarter of every shuffled batch, so that
    eventually every rationale is used.

    **Pitfalls** As `ib`. Gold sentences may be more or fewer than π of the text, but π of it is shown.
    """

    class Config(IB.Config):
        """Settings of ib_semi."""

        supervision: SupervisionConfig = SupervisionConfig()

    config: Config
    costs = count_gold_then_rest(2, 2, learn_selecting=1)

    def phases(self) -> tuple[Phase, ...]:
        return gold_then_rest(Turn("learn", self.supervised_loss), Turn("play", self.unsupervised_loss))

    def weights(self) -> dict[str, float]:
        return {**super().weights(), "select": self.config.supervision.select_weight}

    def counts(self, batch: Batch) -> dict[str, float]:
        units = self.find_units(batch)
        where = units.present & batch.has_gold[:, None]
        lessons = count_lessons(units.find_touched(batch.gold), where, self.config.supervision)
        return {**super().counts(batch), "select": lessons}

    def supervised_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """The label through sampled gates, and the gold sentences; rows without gold in the window have none."""
        units, logits = self.judge_units(batch, self.net.select(batch))
        losses = {"task": self.gated_task_loss(batch, units, logits, generator)}
        where = units.present & batch.has_gold[:, None]
        if bool(where.any()):
            gold, extra = units.find_touched(batch.gold), self.config.supervision.positive_weight
            losses["select"] = select_cross_entropy(as_pair(logits), gold, where, extra)
        return losses
