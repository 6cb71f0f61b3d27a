"""Rationales with HardKuma masks."""

from __future__ import annotations

from typing import Annotated, Literal

import torch
from pydantic import Field
from torch import Tensor

from rationalize.config import Share, Strict
from rationalize.methods.base import Losses, Phase, Turn
from rationalize.methods.hardkuma.kumaraswamy import invert_share, make_hardkuma
from rationalize.methods.hardkuma.lagrange import Multiplier
from rationalize.methods.options import SelectorConfig
from rationalize.methods.passes import Passes, PhasePasses
from rationalize.methods.registry import About, register
from rationalize.methods.select_predict import SelectPredict
from rationalize.models.encoder import EncoderFactory
from rationalize.models.leaning import bound_share, lean_to
from rationalize.models.losses import expected_switches, selected_share, task_cross_entropy
from rationalize.text.batch import Batch


class KumaSelectionConfig(SelectorConfig):
    """How much is selected, in how many pieces, and how it is read out."""

    switches: Share = 0.1
    """Largest wanted share of neighboring pairs at which the mask switches (t)."""
    shared_encoder: bool = False
    """One encoder for selector and predictor, which then agree more easily on a code: how much is shown."""


class MultiplierConfig(Strict):
    """How the multiplier of a limit moves, and what it penalizes."""

    start: Annotated[float, Field(gt=0)] = 0.01
    """λ before the first step. The released code: 1.5e-3 (Beer), 1e-4 (SST)."""
    rate: Annotated[float, Field(gt=0)] = 0.05
    """How fast it grows with the excess over the limit (η). The released code: 0.05 (Beer), 0.01 (SST)."""
    memory: Annotated[Share, Field(lt=1)] = 0.5
    """Memory of the excess's moving average. The released code: 0.5 (Beer), 0.99 (SST)."""
    highest: Annotated[float, Field(gt=0)] = 1.0
    """Upper limit of λ. If the predictor learns slowly, λ runs ahead of it: at 5 it then removes all words at once,
    and the predictor unlearns what it knew."""
    below: Literal["pulled", "free", "rewarded"] = "free"
    """What it costs to be below the limit: as much as above it, nothing, or less than nothing until λ has shrunk
    (the released code, which in short runs ends with nothing selected)."""


class ShareMultiplierConfig(MultiplierConfig):
    """The same for the share, which is a target and not only a limit."""

    start: Annotated[float, Field(gt=0)] = 1.0
    """λ0 before the first step, when the selector is at its share."""
    below: Literal["pulled", "free", "rewarded"] = "pulled"
    """What it costs to be below the wanted share."""


@register(
    About(
        name="hardkuma",
        title="HardKuma",
        supervision="none",
        reference="Bastings et al., ACL 2019",
        cite="Bastings et al. 2019",
        faithful=True,
        headline="Masks with exact zeros and ones that gradients pass through; multipliers hold share and switches.",
    )
)
class HardKumaRationales(SelectPredict):
    """Selector and predictor trained in tandem through stretched, clipped Kumaraswamy masks.

    **Learns from** labels.

    **Objective** CE(y, q(x ⊗ z)) + λ0 · |E share(z ≠ 0) - α| + λ1 · max(0, E switches(z) - t), z_i ~ HardKuma(a_i, b_i)
    on (-0.1, 1.1), a and b by softplus; both expectations in closed form, means over the batch. λ ← λ · exp(η · c̄),
    c̄ the moving average of the excess over α or t, once per backward pass.

    **Phases** `unsupervised` over all examples; one turn moves everything.

    **Encoder passes** Select, predict.

    **Inference** the best `share` of pieces, by comparing z = 0 with the likelier of z = 1 and 0 < z < 1, or with
    `decoding: argmax` (the original) all pieces for which z = 0 is not the likeliest; the predictor then sees them
    whole (the original shows the mean of z in the third case). The label comes from the selected words alone.

    **Defaults** support, clamps, η and the form of control as released; α = 0.2 and t = 0.1 are ours. Also ours:
    the share is held from both sides by a λ0 that starts at 1, and the head starts at P(z ≠ 0) = α. Selecting nothing
    and selecting everything are traps: there samples and share have no gradient. From 87 %, where an unbiased head
    starts, and with a λ0 that first has to grow, the selector falls into one of them within a few dozen steps.

    **Pitfalls** Limits hold for the mean of a batch, so the share of a text may come to encode its class (the health
    report checks for this). Multipliers swing when batches are small; a share multiplier that is `free` below its limit
    may end with nothing selected. Fractional masks in training, whole ones afterwards.
    """

    class Config(SelectPredict.Config):
        """Settings of hardkuma."""

        selection: KumaSelectionConfig = KumaSelectionConfig()
        share_multiplier: ShareMultiplierConfig = ShareMultiplierConfig()
        switch_multiplier: MultiplierConfig = MultiplierConfig()

    config: Config
    costs = Passes(train=(PhasePasses("unsupervised", 2, selecting=1),), explain=2, explain_selecting=1)
    full_text_label = False

    def __init__(self, config: Config, encoders: EncoderFactory, n_classes: int) -> None:
        super().__init__(config, encoders, n_classes)
        self.share_multiplier = Multiplier(**config.share_multiplier.model_dump())
        self.switch_multiplier = Multiplier(**config.switch_multiplier.model_dump())
        lean_to(self.net.select_head, *invert_share(bound_share(config.selection.share)))

    def phases(self) -> tuple[Phase, ...]:
        return (Phase("unsupervised", "all", (Turn("play", self.unsupervised_loss),)),)

    def unsupervised_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """The label from a sampled mask, and the penalties on share and switches."""
        kuma, where = make_hardkuma(self.net.select(batch)), batch.selectable
        mask = kuma.sample(generator) * where
        nonzero = kuma.nonzero()
        share = selected_share(nonzero, where).mean() - self.config.selection.share
        switches = expected_switches(nonzero, where) - self.config.selection.switches
        return {
            "task": task_cross_entropy(self.net.predict(batch, mask), batch.labels),
            "sparsity": self.share_multiplier(share),
            "continuity": self.switch_multiplier(switches),
        }

    def select(self, batch: Batch) -> Tensor:
        """Return logits that compare z = 0 with the likelier alternative."""
        return make_hardkuma(self.net.select(batch)).mode_logits()

    def read(self, batch: Batch) -> tuple[Tensor, Tensor | None]:
        """Return the selection logits; the full text is not read."""
        return self.select(batch), None
