"""Weakly and semi-supervised evidence extraction: classify, then extract."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from rationalize.methods.base import Losses, Phase, Turn
from rationalize.methods.passes import Passes, PhasePasses
from rationalize.methods.registry import About, register
from rationalize.methods.tagging import Tagger
from rationalize.models.encoder import EncoderFactory
from rationalize.models.losses import task_cross_entropy
from rationalize.text.batch import Batch


@register(
    About(
        name="wsee",
        title="WSEE",
        supervision="part",
        reference="Pruthi et al., EMNLP 2020",
        cite="Pruthi et al. 2020",
        faithful=False,
        headline="Classify the full text, then tag the words that support the predicted class, with a CRF.",
    )
)
class WSEE(Tagger):
    """A classifier and a CRF tagger on one encoder; the tagger is given the classifier's label.

    **Learns from** labels everywhere, gold rationales on `data.gold_share` of the examples; the others teach the
    classifier alone.

    **Objective** CE(y, q(x)) + λ · NLL of the gold tags under a linear-chain CRF, mean over document pieces of the
    annotated rows. Emissions are linear in [h_i·1(ŷ=1); …; h_i·1(ŷ=C)]: every class has its own weights.

    **Phases** `joint` over all examples, annotated or not, in one shuffle; one turn moves everything.

    **Encoder passes** The text; an explanation needs a second one only to report the label from the rationale alone.

    **Inference** ŷ from the full text, so it is not faithful by construction; the scores are the
    CRF's marginals given ŷ, the mask the best `share` of them, or with `decoding: argmax` (the paper) the likeliest
    tag sequence (Viterbi).

    **Defaults** λ = 1, ŷ also while training, dropout 0.1 before the class head, all as in the paper, whose
    two-class features are generalized to C classes. Its released code does the same with four CRF states, two of
    which only start and end a sequence. Starting the emissions at the wanted share (`selection.share`) is ours.

    **Pitfalls** Only gold controls how much is tagged; if it is hard to find, the likeliest sequence tags nothing,
    though the marginals are better. ŷ is a hard choice: a wrong label selects the other class's
    evidence, and no gradient of the tags reaches the class head. Early in training ŷ is noise; `condition_on: gold`
    trains on true labels instead.
    """

    class Config(Tagger.Config):
        """Settings of wsee."""

        condition_on: Literal["predicted", "gold"] = "predicted"
        """Which label the tagger is given while training; afterwards always the predicted one."""

    config: Config
    costs = Passes(train=(PhasePasses("joint", 1),), explain=2)

    def __init__(self, config: Config, encoders: EncoderFactory, n_classes: int) -> None:
        super().__init__(config, encoders, n_classes)
        width = self.encoder.hidden_size
        self.class_head = nn.Sequential(nn.Dropout(0.1), encoders.make_class_head(width, n_classes))
        self.emission_head = self.make_emission_head(n_classes * width)

    def phases(self) -> tuple[Phase, ...]:
        return (Phase("joint", "all", (Turn("learn", self.joint_loss),)),)

    def joint_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """The label of every row, and the tags of those that have gold."""
        reading = self.read(batch)
        logits = self.class_head(reading.pooled)
        classes = batch.labels if self.config.condition_on == "gold" else logits.argmax(-1)
        losses = {"task": task_cross_entropy(logits, batch.labels)}
        return losses | self.tag_losses(reading.hidden, classes, batch)

    def emissions(self, hidden: Tensor, classes: Tensor) -> Tensor:
        # Features are 0 outside the block of the row's class, so only that block of the weights is needed.
        blocks = self.emission_head.weight.view(2, self.n_classes, -1)[:, classes]
        return torch.einsum("bnd,tbd->bnt", hidden, blocks) + self.emission_head.bias
