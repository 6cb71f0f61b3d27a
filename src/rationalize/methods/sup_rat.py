"""Vanilla supervised rationalization."""

from __future__ import annotations

from typing import Any, ClassVar

import torch

from rationalize.methods.base import EpochLabel, Losses, Phase, Turn
from rationalize.methods.options import SupervisionConfig
from rationalize.methods.parts import count_gold_pieces, supervised_losses
from rationalize.methods.passes import Passes, PhasePasses
from rationalize.methods.registry import About, register
from rationalize.methods.select_predict import SelectPredict
from rationalize.text.batch import Batch


@register
class SupRAT(SelectPredict):
    """One encoder, two tasks: classify the text, mark its gold rationale.

    **Learns from** labels and a gold rationale for every training example (`data.gold_share` is taken as 1).

    **Objective** CE(y, q(x)) + token cross-entropy of the selection logits against the gold mask, mean over
    document pieces of examples that have gold.

    **Phases** `supervised` over all examples; one turn moves everything.

    **Encoder passes** One pass does both tasks, two if each has an encoder of its own. An explanation has one more
    only to report what the rationale alone would say.

    **Inference** m by decoding: the best `share` of pieces, or with `decoding: argmax` those that are likelier gold
    than not; the label comes from the full text, so it is not faithful by construction.

    **Defaults** as in the SSR paper. The released code averages the token loss over padding and specials too,
    which makes it select less; here the mean is over document pieces, with an optional positive weight.

    **Pitfalls** Gold rationales are few words of many: without a positive weight it under-selects at first.
    """

    about = About(
        name="sup_rat",
        title="Sup-RAT",
        supervision="full",
        reference="multi-task baseline of Yue et al., ICLR 2024",
        cite="Yue et al. 2024",
        faithful=False,
        headline="Two heads on one encoder: the label from the full text, the rationale by token classification.",
        passes=Passes(train=(PhasePasses("supervised", 1),), explain=2),
    )

    class Config(SelectPredict.Config):
        """Settings of sup_rat."""

        supervision: SupervisionConfig = SupervisionConfig()

    config: Config
    epoch_label: ClassVar[EpochLabel] = "decided"  # its predictor reads full texts only

    def phases(self) -> tuple[Phase, ...]:
        return (Phase("supervised", "all", (Turn("learn", self.supervised_loss),)),)

    def weights(self) -> dict[str, float]:
        return {"select": self.config.supervision.select_weight}

    def counts(self, batch: Batch) -> dict[str, float]:
        return {**super().counts(batch), **count_gold_pieces(batch, self.config.supervision)}

    def supervised_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """The label from the full text, and the gold rationale token by token."""
        return supervised_losses(self.net, self.config.supervision, batch)

    @classmethod
    def passes(cls, options: Any, n_classes: int) -> Passes:
        stated = super().passes(options, n_classes)
        return stated if options.selection.shared_encoder else stated.add(1, "supervised")
