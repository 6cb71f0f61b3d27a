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
from rationalize.models.samplers import as_pair
from rationalize.text.batch import Batch

# e^±5: from a bump on one piece to one over a few dozen.
LOG_WIDTH = 5.0


class FullReading(NamedTuple):
    """One pass over the full text: class logits (b, C), mask logits and widths of every class (b, n, C)."""

    classes: Tensor
    masks: Tensor
    widths: Tensor


@register(
    About(
        name="rtp",
        title="RTP",
        supervision="none",
        reference="Brinner and Zarrieß, EMNLP 2024",
        cite="Brinner and Zarrieß 2024",
        faithful=False,
        headline="One network classifies, draws a smooth mask for each class, and judges its own masks.",
    )
)
class RTP(Method):
    """One network is every player of a game: stable, because its own full-text classifier is the judge.

    **Learns from** labels.

    **Objective** For every piece j and class c the network outputs a weight w and a width σ; the mask of class c is
    m_i = sigmoid(Σ_j w_j exp(-(i - j)² / σ_j)). With q̄ the current network, frozen and without dropout, s_c the
    mean of m_c: CE(y, q(x)) + λ_r · CE(y, q̄(x ⊗ m_y)) + λ_c · max(0, q̄_y(x without m_y) - 1 / C) +
    λ_b · KL(U ‖ q(x without anything)) +
    λ · [0.2 s_y² + 0.05 Σ_{c ≠ y} s_c² + 0.001 Σ_c s_c + 0.02 Σ_c mean (σ - 3)² + 0.05 mean_c Σ_i (m_i - m_{i-1})²].

    **Phases** `pretrain`: the label from full texts, and λ_b. `unsupervised` over all examples; one turn moves all.

    **Encoder passes** Full text and nothing, then rationale and complement too; without λ_b one less. An explanation
    needs a second one only to report the label from the rationale alone.

    **Inference** The label comes from the full text; m of that class, by decoding: the best `share` of its pieces, or
    with `decoding: argmax` all above ½. Not faithful by construction.

    **Defaults** λ_r = λ_c = 2.5, λ = 1.5 and the weights above as released, 3 epochs of pretraining too (BERT-base, lr
    1e-5, batch 32). λ_b = 1 is ours: if the judge takes hidden words for a sign of one class, no mask can change that,
    and the class gets no mask; 0 is as released. For the rationale's term the released code takes the sigmoid of one
    logit instead of a cross-entropy, and it blends with [PAD] instead of [MASK].

    **Pitfalls** Training has no target share: λ and λ_c determine how much is above ½, which may be far from what is
    shown. Memory grows with the square of the length, times the classes. The judge never learned to read masked
    texts.
    """

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
        """Epochs of the classifier alone, before masks are trained."""

    config: Config
    costs = Passes(train=(PhasePasses("pretrain", 2, epochs=3), PhasePasses("unsupervised", 4)), explain=2)
    epoch_label = "rationale"  # the full text's is no better for a better mask

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
        """Indecision about a text with everything hidden."""
        if not self.config.blank_weight:
            return {}
        return {"blank": uniform_kl(self.net.predict(batch, torch.zeros_like(batch.selectable)))}

    def unsupervised_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """The label, the network's judgment of its own mask and of the rest, and the masks' shape."""
        full = self.read(batch)
        masks = full.masks.sigmoid() * batch.selectable[..., None]
        mask = pick_class(masks, batch.labels)
        with freeze_weights(self.net):
            rationale = self.net.predict(batch, mask)
            rest = self.net.predict(batch, complement(mask, batch)).softmax(-1)
        left = rest.gather(-1, batch.labels[:, None]) - 1 / self.n_classes
        return {
            "task": task_cross_entropy(full.classes, batch.labels),
            "rationale": task_cross_entropy(rationale, batch.labels),
            "complement": left.clamp(min=0).mean(),
            **self.blank_losses(batch),
            **mask_losses(masks, full.widths, batch.labels, batch.selectable),
        }

    def read(self, batch: Batch) -> FullReading:
        """Read the full text."""
        reading = self.net.encoder.read(batch)
        log_widths, weights = self.mask_head(reading.hidden).chunk(2, dim=-1)
        widths = log_widths.clamp(-LOG_WIDTH, LOG_WIDTH).exp()
        return FullReading(
            self.net.head(reading.pooled), gaussian_logits(weights, widths, batch.selectable), widths
        )

    def explain(self, batch: Batch) -> Output:
        full = self.read(batch)
        logits = pick_class(full.masks, full.classes.argmax(-1))
        return read_out(self, self.config.selection, as_pair(logits), full.classes, batch)

    def decide(self, batch: Batch) -> Output:
        """Predict the label alone, without masks."""
        return decide_on_text(self.net.read(batch), batch)

    def label_from_mask(self, batch: Batch, mask: Tensor) -> Tensor:
        return self.net.predict(batch, mask)

    @classmethod
    def passes(cls, options: Config, n_classes: int) -> Passes:
        saved = 0 if options.blank_weight else 1
        return cls.costs.pretrain(options.pretrain).add(-saved, "pretrain", "unsupervised")
