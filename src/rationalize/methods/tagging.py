"""Classify, then tag: what the methods with a CRF over word pieces have in common."""

from __future__ import annotations

from abc import abstractmethod
from typing import Literal

from torch import Tensor, nn

from rationalize.config import Strict, Weight
from rationalize.methods.base import Losses, Method, Output
from rationalize.models.crf import Crf
from rationalize.models.decoding import whole_words
from rationalize.models.encoder import EncoderFactory
from rationalize.models.masking import pool_masked
from rationalize.models.reading import Reading
from rationalize.text.batch import Batch


class Tagger(Method):
    """One encoder, a class head on the full text, and a CRF that tags pieces given a class.

    A child says how the class enters the emissions, and sets `class_head`.
    """

    class Config(Strict):
        """Settings of methods that tag."""

        select_weight: Weight = 1.0
        """Weight of the tags' loss."""
        masking: Literal["mix", "zero", "attention"] = "mix"
        """How unselected pieces are hidden when the rationale alone is read."""
        whole_words: bool = True
        """Take all pieces of a word if one is taken."""

    config: Config
    class_head: nn.Module

    def __init__(self, config: Config, encoders: EncoderFactory, n_classes: int) -> None:
        super().__init__(config, encoders, n_classes)
        self.encoder = encoders.new()
        self.crf = Crf()

    @abstractmethod
    def emissions(self, hidden: Tensor, classes: Tensor) -> Tensor:
        """Scores of the tags "leave" and "select" given each row's class. (b, n, d), (b,) -> (b, n, 2)."""

    def weights(self) -> dict[str, float]:
        return {"select": self.config.select_weight}

    def read(self, batch: Batch) -> Reading:
        """The full text."""
        return self.encoder.read(batch.input_ids, batch.attention, batch.token_types)

    def tag_losses(self, hidden: Tensor, classes: Tensor, batch: Batch) -> Losses:
        """-log P(gold tags), mean over document pieces of the rows that have gold (`select`); absent without any."""
        rows = batch.has_gold
        if not bool(rows.any()):
            return {}
        emissions, present = self.emissions(hidden[rows], classes[rows]), batch.selectable[rows]
        losses = self.crf.negative_log_likelihood(emissions, batch.gold[rows].long(), present)
        return {"select": losses.sum() / present.sum()}

    def explain(self, batch: Batch) -> Output:
        reading = self.read(batch)
        full_text = self.class_head(reading.pooled)
        emissions = self.emissions(reading.hidden, full_text.argmax(-1))
        mask = self.crf.viterbi(emissions, batch.selectable).bool()
        if self.config.whole_words:
            mask = whole_words(mask, batch.words, batch.selectable)
        scores = self.crf.marginals(emissions, batch.selectable)[..., 1]
        rationale = self.label_from_mask(batch, mask)
        return Output(mask, scores, full_text, full_text=full_text, rationale=rationale)

    def label_from_mask(self, batch: Batch, mask: Tensor) -> Tensor:
        logits: Tensor = self.class_head(pool_masked(self.encoder, batch, mask, self.config.masking))
        return logits
