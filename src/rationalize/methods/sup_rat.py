"""Vanilla supervised rationalization."""

from __future__ import annotations

from typing import ClassVar

from rationalize.methods.base import EpochLabel, Phase, Turn
from rationalize.methods.lessons import GoldLessons
from rationalize.methods.passes import Passes, PhasePasses
from rationalize.methods.registry import About, register


@register(
    About(
        name="sup_rat",
        title="Sup-RAT",
        supervision="full",
        reference="multi-task baseline of Yue et al., ICLR 2024",
        cite="Yue et al. 2024",
        faithful=False,
        headline="Two heads on one encoder: the label from the full text, the rationale by token classification.",
    )
)
class SupRAT(GoldLessons):
    """One encoder, two tasks: classify the text, mark its gold rationale.

    **Learns from** labels and a gold rationale for every training example (`data.gold_share` is taken as 1).

    **Objective** CE(y, q(x)) + token cross-entropy of the selection logits against the gold mask, mean over
    document pieces of examples that have gold.

    **Phases** `supervised` over all examples; one turn moves everything.

    **Encoder passes** One pass serves both tasks, two if each has its own encoder. An explanation needs one more
    only to report the label from the rationale alone.

    **Inference** m by decoding: the best `share` of pieces, or with `decoding: argmax` those that are more likely
    gold than not; the label comes from the full text, so it is not faithful by construction.

    **Defaults** as in the SSR paper. The released code averages the token loss over padding and specials too,
    which makes it select less; here the mean is over document pieces, with an optional positive weight.

    **Pitfalls** Gold words are few: without a positive weight it selects too little at first.
    """

    class Config(GoldLessons.Config):
        """Settings of sup_rat."""

    config: Config
    costs = Passes(train=(PhasePasses("supervised", 1),), explain=2)
    epoch_label: ClassVar[EpochLabel] = "decided"  # its predictor reads full texts only

    def phases(self) -> tuple[Phase, ...]:
        return (Phase("supervised", "all", (Turn("learn", self.supervised_loss),)),)
