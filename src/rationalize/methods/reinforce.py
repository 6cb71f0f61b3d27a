"""Rationales learned by policy gradient."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import torch
from pydantic import Field
from torch.nn import functional as F

from rationalize.config import Share, Weight
from rationalize.methods.base import Losses, Phase, Turn
from rationalize.methods.options import SelectorConfig
from rationalize.methods.passes import Passes, PhasePasses
from rationalize.methods.registry import About, register
from rationalize.methods.select_predict import SelectPredict
from rationalize.models.encoder import EncoderFactory
from rationalize.models.losses import expected_switches, sparsity
from rationalize.models.policy import MovingAverage, draw, entropy, log_probability, policy_loss
from rationalize.text.batch import Batch


class DrawnSelectionConfig(SelectorConfig):
    """How drawn masks are held to their share and teach the selector, and how the shown mask is decoded."""

    sparsity: Literal["instance", "batch", "hinge"] = "instance"
    """Whether the expected share is held per text, over the batch, or only limited from above."""
    sparsity_weight: Weight = 1.0
    """λ1."""
    continuity_weight: Weight = 0.1
    """λ2, of expected switches per neighboring pair."""
    policy_weight: Weight = 0.1
    """Weight of the policy gradient, relative to the label loss."""
    entropy_weight: Weight = 0.01
    """Bonus for undecided pieces, so that exploration continues."""
    shared_encoder: bool = False
    """One encoder for selector and predictor. The policy gradient's noise then affects the predictor, too."""
    baseline_memory: Annotated[Share, Field(lt=1)] = 0.9
    """Memory of the baseline, a moving average that is subtracted from the cost."""


@register(
    About(
        name="reinforce",
        title="REINFORCE",
        supervision="none",
        reference="Lei et al., EMNLP 2016",
        cite="Lei et al. 2016",
        faithful=True,
        headline="Draws hard masks, and makes those likelier with which the predictor did better than usual.",
    )
)
class Reinforce(SelectPredict):
    """Selector and predictor trained on labels alone, with drawn masks and a policy gradient.

    **Learns from** labels.

    **Objective** CE(y, q(x ⊗ z)) for the predictor; for the selector the gradient of E_z[CE] by
    (CE - b) · log p(z | x), z drawn piece by piece, b a moving average of CE;
    + λ1 · |E share(z) - α| + λ2 · E switches(z), both exact, - λ_H · entropy per piece.

    **Phases** `unsupervised` over all examples; one turn moves everything.

    **Encoder passes** Select, predict.

    **Inference** m by decoding (the best `share`) without noise; the label comes from the selected words alone.

    **Defaults** The original has one sample and no baseline, and a penalty of λ = 3e-4 per selected word and twice that
    per switch, without a target share. The baseline, the entropy bonus, the share and the exact expectations in place
    of sampled penalties are ours. Choices are independent given the text.

    **Pitfalls** High variance: one number is the credit of all pieces, so it learns slowly, especially on long texts,
    and may settle on all or nothing. It is known to be unstable with large pretrained encoders.
    """

    class Config(SelectPredict.Config):
        """Settings of reinforce."""

        selection: DrawnSelectionConfig = DrawnSelectionConfig()

    config: Config
    costs = Passes(train=(PhasePasses("unsupervised", 2, selecting=1),), explain=2, explain_selecting=1)
    full_text_label = False

    def __init__(self, config: Config, encoders: EncoderFactory, n_classes: int) -> None:
        super().__init__(config, encoders, n_classes)
        # The cost of a predictor that knows nothing is log C.
        self.baseline = MovingAverage(math.log(n_classes), config.selection.baseline_memory)

    def phases(self) -> tuple[Phase, ...]:
        return (Phase("unsupervised", "all", (Turn("play", self.unsupervised_loss),)),)

    def weights(self) -> dict[str, float]:
        chosen = self.config.selection
        return {
            "policy": chosen.policy_weight,
            "sparsity": chosen.sparsity_weight,
            "continuity": chosen.continuity_weight,
            "entropy": chosen.entropy_weight,
        }

    def unsupervised_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """The label from a drawn rationale, the policy gradient, and the expected shape."""
        chosen, where = self.config.selection, batch.selectable
        logits = self.net.select(batch)
        mask = draw(logits, generator) * where
        cost = F.cross_entropy(self.net.predict(batch, mask), batch.labels, reduction="none")
        chance = logits.softmax(-1)[..., 1]
        return {
            "task": cost.mean(),
            "policy": policy_loss(cost, self.baseline(cost), log_probability(logits, mask, where)),
            "sparsity": sparsity(chance, where, chosen.share, chosen.sparsity),
            "continuity": expected_switches(chance, where),
            "entropy": -entropy(logits, where).mean(),
        }
