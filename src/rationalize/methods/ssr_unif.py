"""SSR with shortcuts injected into the prediction."""

from __future__ import annotations

from typing import Literal

import torch

from rationalize.config import Weight
from rationalize.methods.base import Losses
from rationalize.methods.parts import uniform_losses
from rationalize.methods.registry import register
from rationalize.methods.semi_rat import SemiRAT
from rationalize.text.batch import Batch


@register(
    "ssr_unif",
    title="SSR_unif",
    supervision="part",
    reference="Yue et al., ICLR 2024",
    faithful=True,
    headline="Semi-RAT whose predictor must be undecided when it sees only discovered shortcuts.",
    passes_train="2 (gold) or 2 (rest)",
    passes_explain="2",
    needs_shortcuts=True,
)
class SSRUnif(SemiRAT):
    """Semi-RAT, plus a penalty on deciding from shortcuts.

    **Learns from** labels everywhere, gold rationales on `data.gold_share` of the examples, and the shortcuts
    that a trained Un-RAT shows in those (settings under `shortcuts`).

    **Objective** L_un + L_sup + λ_unif · KL(U ‖ q(y | z_s)), U uniform over the classes and z_s the shortcut words
    alone. Examples without a shortcut are left out of that term.

    **Phases** as semi_rat: `supervised` (with the uniform term) over the gold pool, then `unsupervised` over the
    rest, every epoch; all parameters are shared between them. With `shortcuts.propagate` (beyond the paper) the rest
    has shortcuts too, and the uniform term acts on them there.

    **Encoder passes** 2 per supervised step (full text, shortcuts) and 2 per unsupervised one (3 on rows that
    shortcuts were carried over to), 2 per explanation.

    **Inference** as semi_rat.

    **Defaults** λ_unif = 0.1 and KL(U ‖ q), mean over the batch, as the paper prints it. The released code has
    KL(q ‖ U) summed over the batch: `kl: q_to_uniform` and a four times larger weight come close to it.

    **Pitfalls** It can only unlearn shortcuts that discovery has found: look at artifacts/shortcuts.json first. A
    finder that selects by class turns the term into noise on one class.
    """

    class Config(SemiRAT.Config):
        """Settings of ssr_unif."""

        uniform_weight: Weight = 0.1
        """λ_unif; 0 leaves Semi-RAT."""
        kl: Literal["uniform_to_q", "q_to_uniform"] = "uniform_to_q"
        """Direction of the divergence: as printed in the paper, or as in its released code."""

    config: Config

    def weights(self) -> dict[str, float]:
        return {**super().weights(), "uniform": self.config.uniform_weight}

    def supervised_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """L_sup, and indecision on shortcuts."""
        return {**super().supervised_loss(batch, generator), **uniform_losses(self, batch, self.config.kl)}

    def unsupervised_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """L_un, and indecision on shortcuts where any were carried over."""
        return {**super().unsupervised_loss(batch, generator), **uniform_losses(self, batch, self.config.kl)}
