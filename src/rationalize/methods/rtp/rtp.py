"""The rationalized transformer predictor."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import torch
from pydantic import Field
from torch import Tensor, nn

from rationalize.config import Strict, Weight
from rationalize.methods.base import Losses, Method, Output, Phase, Turn
from rationalize.methods.options import OneEncoderReadoutConfig
from rationalize.methods.parts import decide_on_text, read_out
from rationalize.methods.passes import Passes, PhasePasses
from rationalize.methods.registry import About, register
from rationalize.methods.rtp.gaussian import gaussian_logits, mask_losses, pick_class
from rationalize.models.classifier import Classifier
from rationalize.models.encoder import EncoderFactory
from rationalize.models.frozen import freeze_weights
from rationalize.models.losses import task_cross_entropy, uniform_kl
from rationalize.models.masking import complement
from rationalize.text.batch import Batch

# e^±5: from a bump on one piece to one that reaches over some dozens.
LOG_WIDTH = 5.0


class Said(NamedTuple):
    """One pass over the full text: class logits (b, C), mask logits and widths of every class (b, n, C)."""

    classes: Tensor
    masks: Tensor
    widths: Tensor


@register
class RTP(Method):
    """All players of a game in one network: stable, because the judge is the classifier of the full text itself.

    **Learns from** labels.

    **Objective** For every piece j and class c the network gives a weight w and a width σ; the mask of class c is
    m_i = sigmoid(Σ_j w_j exp(-(i - j)² / σ_j)). With q̄ the network as it is now, frozen and without dropout, s_c the
    mean of m_c: CE(y, q(x)) + λ_r · CE(y, q̄(x ⊗ m_y)) + λ_c · max(0, q̄_y(x without m_y) - 1 / C) +
    λ_b · KL(U ‖ q(x without anything)) +
    λ · [0.2 s_y² + 0.05 Σ_{c ≠ y} s_c² + 0.001 Σ_c s_c + 0.02 Σ_c mean (σ - 3)² + 0.05 mean_c Σ_i (m_i - m_{i-1})²].

    **Phases** `pretrain`: the label from full texts, and λ_b. `unsupervised` over all examples; one turn moves all.

    **Encoder passes** Full text and nothing, then rationale and complement too; without λ_b one less. An explanation
    has a second only to report what the rationale alone would say.

    **Inference** The label comes from the full text; m of that class, by decoding: the best `share` of its pieces, or
    with `decoding: argmax` all above ½. Not faithful by construction.

    **Defaults** λ_r = λ_c = 2.5, λ = 1.5 and the weights above as released, 3 epochs of pretraining too (BERT-base,
    lr 1e-5, batch 32). λ_b = 1 is ours: a judge that takes hidden words for a sign of one class can never be talked
    out of it, and that class gets no mask; 0 is as released. The released code takes the sigmoid of one logit where
    here the rationale's term is a cross-entropy, and blends with [PAD] where here it is [MASK].

    **Pitfalls** Training asks for no share: how much lies above ½ is a balance of λ and λ_c, and may be far from what
    is shown. Memory grows with the square of the length, times the classes. The judge never learned to read masked
    texts.
    """

    about = About(
        name="rtp",
        title="RTP",
        supervision="none",
        reference="Brinner and Zarrieß, EMNLP 2024",
        cite="Brinner and Zarrieß 2024",
        faithful=False,
        headline="One network classifies, draws a smooth mask for each class, and judges its own masks.",
        passes=Passes(
            train=(PhasePasses("pretrain", 2, epochs=3), PhasePasses("unsupervised", 4)), explain=2
        ),
    )

    class Config(Strict):
        """Settings of rtp."""

        selection: OneEncoderReadoutConfig = OneEncoderReadoutConfig()
        rationale_weight: Weight = 2.5
        """λ_r."""
        complement_weight: Weight = 2.5
        """λ_c."""
        blank_weight: Weight = 1.0
        """λ_b; 0 leaves it out, and saves a pass."""
        regularization: Weight = 1.5
        """λ, on all of the following."""
        share_weight: Weight = 0.2
        """On the squared share of the label's mask."""
        other_weight: Weight = 0.05
        """On the squared shares of the other classes' masks."""
        mass_weight: Weight = 0.001
        """On the plain shares of all masks."""
        width_weight: Weight = 0.02
        """On widths other than 3."""
        smooth_weight: Weight = 0.05
        """On steps between neighbors."""
        pretrain: Annotated[int, Field(ge=0)] = 3
        """Epochs before there are masks."""

    config: Config

    def __init__(self, config: Config, encoders: EncoderFactory, n_classes: int) -> None:
        super().__init__(config, encoders, n_classes)
        self.net = Classifier(encoders, n_classes, config.selection.masking)
        self.mask_head = nn.Linear(self.net.encoder.hidden_size, 2 * n_classes)

    @property
    def pretrain_epochs(self) -> int:
        return self.config.pretrain

    def phases(self) -> tuple[Phase, ...]:
        return (
            Phase("pretrain", "all", (Turn("learn", self.full_text_loss),), when="pretrain"),
            Phase("unsupervised", "all", (Turn("play", self.unsupervised_loss),)),
        )

    def weights(self) -> dict[str, float]:
        chosen = self.config
        inner = {
            "share": chosen.share_weight,
            "others": chosen.other_weight,
            "mass": chosen.mass_weight,
            "width": chosen.width_weight,
            "smooth": chosen.smooth_weight,
        }
        outer = {"rationale": chosen.rationale_weight, "complement": chosen.complement_weight}
        if chosen.blank_weight:
            outer["blank"] = chosen.blank_weight
        return outer | {name: chosen.regularization * weight for name, weight in inner.items()}

    def full_text_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """The label from the full text."""
        task = task_cross_entropy(self.net.read(batch), batch.labels)
        return {"task": task, **self.blank_losses(batch)}

    def blank_losses(self, batch: Batch) -> Losses:
        """Indecision about a text of which nothing is shown."""
        if not self.config.blank_weight:
            return {}
        return {"blank": uniform_kl(self.net.predict(batch, torch.zeros_like(batch.selectable)))}

    def unsupervised_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """The label, what the network makes of its own mask and of the rest, and the masks' shape."""
        said = self.say(batch)
        masks = said.masks.sigmoid() * batch.selectable[..., None]
        mask = pick_class(masks, batch.labels)
        with freeze_weights(self.net):
            rationale = self.net.predict(batch, mask)
            rest = self.net.predict(batch, complement(mask, batch)).softmax(-1)
        left = rest.gather(-1, batch.labels[:, None]) - 1 / self.n_classes
        return {
            "task": task_cross_entropy(said.classes, batch.labels),
            "rationale": task_cross_entropy(rationale, batch.labels),
            "complement": left.clamp(min=0).mean(),
            **self.blank_losses(batch),
            **mask_losses(masks, said.widths, batch.labels, batch.selectable),
        }

    def say(self, batch: Batch) -> Said:
        """Read the full text."""
        reading = self.net.encoder.read(batch.input_ids, batch.attention, batch.token_types)
        log_widths, weights = self.mask_head(reading.hidden).chunk(2, dim=-1)
        widths = log_widths.clamp(-LOG_WIDTH, LOG_WIDTH).exp()
        return Said(self.net.head(reading.pooled), gaussian_logits(weights, widths, batch.selectable), widths)

    def explain(self, batch: Batch) -> Output:
        said = self.say(batch)
        logits = pick_class(said.masks, said.classes.argmax(-1))
        both = torch.stack([torch.zeros_like(logits), logits], -1)
        return read_out(self, self.config.selection, both, said.classes, batch)

    def decide(self, batch: Batch) -> Output:
        """The label alone, without masks."""
        return decide_on_text(self.net.read(batch), batch)

    def label_from_mask(self, batch: Batch, mask: Tensor) -> Tensor:
        return self.net.predict(batch, mask)

    @classmethod
    def passes(cls, options: Config, n_classes: int) -> Passes:
        saved = 0 if options.blank_weight else 1
        return cls.about.passes.pretrain(options.pretrain).add(-saved, "pretrain", "unsupervised")
