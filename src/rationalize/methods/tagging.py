"""Classify, then tag: what methods with a CRF over word pieces have in common."""

from __future__ import annotations

import math
from abc import abstractmethod

import torch
from torch import Tensor, nn

from rationalize.config import Strict, Weight
from rationalize.methods.base import Losses, Method, Output
from rationalize.methods.options import OneEncoderReadoutConfig, PositiveWeight
from rationalize.methods.parts import decide_on_text
from rationalize.models.crf import Crf
from rationalize.models.encoder import EncoderFactory
from rationalize.models.leaning import lean_to_share
from rationalize.models.losses import weigh_positives
from rationalize.models.masking import pool_masked
from rationalize.models.reading import Reading
from rationalize.text.batch import Batch


class Tagger(Method):
    """One encoder, a class head on the full text, and a CRF that tags pieces given a class.

    A child defines how the class enters the emissions, and sets `class_head` and `emission_head`. The latter starts at
    the wanted share of tags: from even chances, the first epochs would only teach that most pieces are left. The mask
    is decoded as in other methods, `topk`, `span` and `threshold` from the CRF's marginals; `argmax` is the likeliest
    tag sequence (Viterbi), which selects nothing if the tagger is unsure.
    """

    class Config(Strict):
        """Settings of methods that tag."""

        selection: OneEncoderReadoutConfig = OneEncoderReadoutConfig()
        select_weight: Weight = 1.0
        """Weight of the tags' loss."""
        positive_weight: PositiveWeight = None
        """How many times as likely "leave" is made at gold pieces while tags are learned (softmax-margin), so that the
        tagger has to be surer of gold; balanced: others / gold in the batch."""

    config: Config
    class_head: nn.Module

    def __init__(self, config: Config, encoders: EncoderFactory, n_classes: int) -> None:
        super().__init__(config, encoders, n_classes)
        self.encoder = encoders.make()
        self.crf = Crf()

    def make_emission_head(self, width: int) -> nn.Linear:
        """Make a head that scores tags from vectors of this width, at first for the wanted share."""
        head = nn.Linear(width, 2)
        lean_to_share(head, self.config.selection.share)
        return head

    @abstractmethod
    def emissions(self, hidden: Tensor, classes: Tensor) -> Tensor:
        """Score the tags "leave" and "select" given each row's class. (b, n, d), (b,) -> (b, n, 2)."""

    def weights(self) -> dict[str, float]:
        return {"select": self.config.select_weight}

    def counts(self, batch: Batch) -> dict[str, float]:
        return {**super().counts(batch), "select": float(batch.selectable[batch.has_gold].sum())}

    def read(self, batch: Batch) -> Reading:
        """Read the full text."""
        return self.encoder.read(batch)

    def tag_losses(self, hidden: Tensor, classes: Tensor, batch: Batch) -> Losses:
        """Return -log P(gold tags), mean over document pieces of rows with gold (`select`); absent without any."""
        rows = batch.has_gold
        if not bool(rows.any()):
            return {}
        emissions, present = self.emissions(hidden[rows], classes[rows]), batch.selectable[rows]
        tags = batch.gold[rows].long()
        weight = weigh_positives(tags[present], self.config.positive_weight)
        if weight is not None:
            extra = math.log(weight) * tags.to(emissions.dtype)
            emissions = emissions + torch.stack((extra, torch.zeros_like(extra)), -1)
        losses = self.crf.negative_log_likelihood(emissions, tags, present)
        return {"select": losses.sum() / present.sum()}

    def explain(self, batch: Batch) -> Output:
        reading = self.read(batch)
        full_text = self.class_head(reading.pooled)
        emissions = self.emissions(reading.hidden, full_text.argmax(-1))
        mask, scores = self.config.selection.read_off(
            self.crf.marginals(emissions, batch.selectable)[..., 1],
            lambda: self.crf.viterbi(emissions, batch.selectable).bool(),
            batch,
            self.cutoff,
        )
        rationale = self.label_from_mask(batch, mask)
        return Output(mask, scores, full_text, full_text=full_text, rationale=rationale)

    def decide(self, batch: Batch) -> Output:
        """Predict the label alone, without tags."""
        return decide_on_text(self.class_head(self.read(batch).pooled), batch)

    def label_from_mask(self, batch: Batch, mask: Tensor) -> Tensor:
        logits: Tensor = self.class_head(
            pool_masked(self.encoder, batch, mask, self.config.selection.masking)
        )
        return logits
