"""Settings that many methods share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import Field
from torch import Tensor

from rationalize.config import Share, Strict, Weight
from rationalize.models import decoding
from rationalize.text.batch import Batch

Sampler = Literal["gumbel_soft", "gumbel_hard", "argmax_hard"]
Layers = Annotated[int, Field(gt=0)] | None


class ReadoutConfig(Strict):
    """How much is selected, how the rest is hidden from the predictor, and how the shown mask is decoded."""

    masking: Literal["mix", "zero", "attention"] = "mix"
    """How unselected pieces are hidden from the predictor."""
    share: Share = 0.2
    """Wanted share of selected pieces (α). The paper: Movies 0.1, MultiRC, BoolQ, FEVER 0.2, Evidence
    Inference 0.08."""
    decoding: Literal["argmax", "threshold", "topk", "span", "calibrated"] = "topk"
    """How the shown mask is decoded. topk: the best `share` of pieces of each text, for every method, so that methods
    are compared at one share; calibrated: the best `share` of all words of the dev texts, so that a text with more
    evidence shows more of it, and one with none may show nothing; argmax: pieces that are likelier selected than not;
    threshold: scores above `threshold`; span: the best contiguous `share`."""
    threshold: Share = 0.5
    """Score above which a piece is selected (decoding: threshold)."""
    whole_words: bool = True
    """Select all pieces of a word if one is selected, so that the words shown are the words read."""
    shared_encoder: bool = True
    """One encoder for selector and predictor."""

    def decode(self, logits: Tensor, batch: Batch, cutoff: Tensor | None) -> tuple[Tensor, Tensor]:
        """Decode selection logits (b, n, 2) to a hard mask (b, n) and a score per piece (b, n).

        `cutoff` is the method's own, for calibrated decoding.
        """
        scores = logits.softmax(-1)[..., 1]
        return self.read_off(scores, lambda: decoding.argmax(logits, batch.selectable), batch, cutoff)

    def read_off(
        self, scores: Tensor, likeliest: Callable[[], Tensor], batch: Batch, cutoff: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Decode probabilities (b, n); `likeliest` computes the likeliest mask as a whole (b, n), if it is needed."""
        if self.decoding == "argmax":
            mask = likeliest()
        elif self.decoding == "threshold":
            mask = decoding.threshold(scores, batch.selectable, self.threshold)
        elif self.decoding == "calibrated":
            mask = decoding.threshold(scores, batch.selectable, self.threshold if cutoff is None else cutoff)
        elif self.decoding == "topk":
            mask = decoding.topk(scores, batch.selectable, self.share)
        else:
            mask = decoding.span(scores, batch.selectable, self.share)
        if self.whole_words:
            mask = decoding.complete_words(mask, batch.words, batch.selectable)
        return mask, scores * batch.selectable


class OneEncoderReadoutConfig(ReadoutConfig):
    """How the shown mask is decoded; there is always one encoder, and one pass for selection and label."""

    shared_encoder: Literal[True] = True
    """One encoder does everything."""


class SelectorConfig(ReadoutConfig):
    """The same, for methods whose selector need not read as deeply as their predictor."""

    layers: Layers = None
    """Select by what so many of the encoder's layers, the first ones, make of the text; the predictor reads the
    rationale through all of them. A selector with an encoder of its own has only these. An explanation then has no
    label from the full text, unless it decides on that. None: all layers."""


def find_selection_layers(options: Strict) -> int | None:
    """Return the layer that a method's selection ends at; None: the last one, or the method has no such setting."""
    found: int | None = getattr(getattr(options, "selection", None), "layers", None)
    return found


class SelectionConfig(SelectorConfig):
    """How the selector is relaxed, held to its share by penalties, and decoded."""

    sampler: Sampler = "gumbel_soft"
    """How masks are drawn in training; gumbel_hard rounds them and passes the gradient straight through,
    argmax_hard does so without noise."""
    temperature: Annotated[float, Field(gt=0)] = 1.0
    """Temperature of the sampler; lower is closer to hard masks."""
    sparsity: Literal["instance", "batch", "hinge"] = "instance"
    """Whether the share is held per text, per batch, or only from above. Per text as in SSR and Inter-RAT; CAR, INVRAT,
    FR, DR, MGR, DAR, MCD, MRD and N2R were published with the share of a batch, and hold it per text unless set."""
    sparsity_weight: Weight = 1.0
    """λ1. The released code of the paper has 0.01 to 0.1, too weak to hold the share."""
    continuity: Literal["mean", "sum"] = "mean"
    """Switches per neighboring pair, or their number."""
    continuity_weight: Weight = 0.1
    """λ2."""


class ApartSelectionConfig(SelectionConfig):
    """The same, for games whose players move in turns and so cannot share an encoder."""

    shared_encoder: Literal[False] = False
    """Selector and predictor have an encoder each."""


class HardApartSelectionConfig(ApartSelectionConfig):
    """The same with hard masks. (Its own class: a changed default instance would be lost if another field is set.)"""

    sampler: Sampler = "gumbel_hard"
    """How masks are drawn in training."""


class LabelConfig(Strict):
    """For methods that can decide on either reading."""

    label_from: Literal["rationale", "full_text"] = "rationale"
    """Which reading decides the label."""


PositiveWeight = Annotated[float, Field(gt=0)] | Literal["balanced"] | None


class SupervisionConfig(Strict):
    """How gold rationales teach the selector."""

    positive_weight: PositiveWeight = None
    """Extra weight of gold pieces in the token loss; balanced: others / gold in the batch."""
    select_weight: Weight = 1.0
    """Weight of the token loss."""
