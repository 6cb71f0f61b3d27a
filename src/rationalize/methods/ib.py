"""Information bottleneck over sentences or words."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from rationalize.config import Strict, Weight
from rationalize.methods.base import Losses, Method, Output, Phase, Turn
from rationalize.methods.options import Layers
from rationalize.methods.passes import Passes, PhasePasses
from rationalize.methods.registry import About, register
from rationalize.models import decoding
from rationalize.models.encoder import EncoderFactory
from rationalize.models.losses import bernoulli_kl, task_cross_entropy
from rationalize.models.rationale_net import RationaleNet
from rationalize.models.samplers import relaxed_bernoulli
from rationalize.models.units import Units, find_units
from rationalize.text.batch import Batch


class BottleneckConfig(Strict):
    """Which units are selected, how many, and how gates are relaxed and shown."""

    unit: Literal["sentence", "token"] = "sentence"
    """Select whole sentences, or word by word."""
    share: Annotated[float, Field(gt=0, lt=1)] = 0.2
    """Prior probability of a unit (π), and the exact share of units shown. The paper: Movies and FEVER
    0.4, MultiRC 0.25, BoolQ and Evidence Inference 0.2."""
    bottleneck_weight: Weight = 0.1
    """Weight β of the divergence from the prior. The paper: 1, MultiRC 0.1."""
    temperature: Annotated[float, Field(gt=0)] = 0.7
    """Of the relaxed gates: the lower, the nearer to open or shut."""
    masking: Literal["mix", "zero", "attention"] = "attention"
    """How units are hidden from the predictor; attention adds the log of their gate to the attention scores."""
    shared_encoder: bool = True
    """One encoder for selector and predictor; the paper has two, with tied embeddings."""
    layers: Layers = None
    """Judge units by what the first so many layers make of the text; the predictor reads the rationale through all of
    them. An explanation then has no label from the full text. None: all layers."""
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.2
    """Inside the head that judges units."""


@register(
    About(
        name="ib",
        title="IB",
        supervision="none",
        reference="Paranjape et al., EMNLP 2020",
        cite="Paranjape et al. 2020",
        faithful=True,
        headline="Whole sentences pass a gate that is held to a prior; the best share of them is shown.",
    )
)
class IB(Method):
    """A gate per sentence, penalized by its divergence from a sparse prior.

    **Learns from** labels.

    **Objective** CE(y, q(x, z)) + β · (1/S) Σ_j KL(Bern(p_j) ‖ Bern(π)), p_j = σ(MLP[h_start ; h_end]) for each of
    the S sentences; z_j is a relaxed Bernoulli draw; log z_j is added to all attention scores of its pieces.

    **Phases** `unsupervised` over all examples; one turn moves everything.

    **Encoder passes** Select, predict; an explanation needs one more for the full-text label if there are two encoders.

    **Inference** the ⌈π·S⌉ sentences with the largest p_j, without noise; the label comes from them alone.

    **Defaults** temperature 0.7, dropout 0.2 and the soft attention gate as released; β = 0.1 as for MultiRC there,
    π = 0.2 and one shared encoder are ours. The released code passes log σ(l) as logits (so that no probability
    exceeds ½) and [h_start ; h_start] as the vector; here both are as in the paper.

    **Pitfalls** Whole sentences are coarse: the gold share of gold sentences limits token precision; `unit: token`
    selects words instead. Too large a β makes all gates alike; too small a β opens them all in training, while only π
    of them are shown afterwards. A text of few sentences shows more than its share.
    """

    class Config(Strict):
        """Settings of ib."""

        selection: BottleneckConfig = BottleneckConfig()

    config: Config
    costs = Passes(train=(PhasePasses("unsupervised", 2, selecting=1),), explain=2)

    def __init__(self, config: Config, encoders: EncoderFactory, n_classes: int) -> None:
        super().__init__(config, encoders, n_classes)
        chosen = config.selection
        self.net = RationaleNet(
            encoders,
            n_classes,
            shared=chosen.shared_encoder,
            masking=chosen.masking,
            layers=chosen.layers,
            select_head=nn.Identity(),
        )
        width = self.net.encoder.hidden_size
        self.unit_head = nn.Sequential(
            nn.Linear(2 * width, width), nn.ReLU(), nn.Dropout(chosen.dropout), nn.Linear(width, 1)
        )

    def phases(self) -> tuple[Phase, ...]:
        return (Phase("unsupervised", "all", (Turn("play", self.unsupervised_loss),)),)

    def weights(self) -> dict[str, float]:
        return {"bottleneck": self.config.selection.bottleneck_weight}

    def unsupervised_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """The label through sampled gates, and their divergence from the prior."""
        units, logits = self.judge_units(batch, self.net.select(batch))
        divergence = bernoulli_kl(logits, self.config.selection.share)
        return {
            "task": self.gated_task_loss(batch, units, logits, generator),
            "bottleneck": units.average(divergence).mean(),
        }

    def find_units(self, batch: Batch) -> Units:
        """Find the sentences or words that are selected as a whole."""
        by_sentence = self.config.selection.unit == "sentence"
        return find_units(batch.sentences if by_sentence else batch.words, batch.selectable)

    def judge_units(self, batch: Batch, hidden: Tensor) -> tuple[Units, Tensor]:
        """Return the units of a batch and their logits (b, s), from the selector's vectors (b, n, d)."""
        units = self.find_units(batch)
        return units, self.unit_head(units.join_edges(hidden)).squeeze(-1)

    def gated_task_loss(
        self, batch: Batch, units: Units, logits: Tensor, generator: torch.Generator
    ) -> Tensor:
        """Return the cross-entropy of the label, read through sampled gates."""
        gates = relaxed_bernoulli(logits, self.config.selection.temperature, generator)
        return task_cross_entropy(self.net.predict(batch, units.spread(gates)), batch.labels)

    def explain(self, batch: Batch) -> Output:
        whole = self.config.selection.layers is None
        hidden, full_text = self.net.read(batch) if whole else (self.net.select(batch), None)
        units, logits = self.judge_units(batch, hidden)
        best = decoding.topk(logits, units.present, self.config.selection.share)
        mask = units.spread(best)
        rationale = self.label_from_mask(batch, mask)
        return Output(mask, units.spread(logits.sigmoid()), rationale, full_text, rationale)

    def label_from_mask(self, batch: Batch, mask: Tensor) -> Tensor:
        return self.net.predict(batch, mask)

    @classmethod
    def passes(cls, options: Config, n_classes: int) -> Passes:
        apart = not options.selection.shared_encoder
        if options.selection.layers is not None:
            return replace(cls.costs, explain_selecting=1)
        return replace(cls.costs, explain=2 + apart, explain_selecting=int(apart))
