"""SSR with shortcuts carried over to the texts that nobody annotated."""

from __future__ import annotations

import torch

from rationalize.config import Weight
from rationalize.methods.base import Losses
from rationalize.methods.parts import avoid_losses, sampled_losses, uniform_losses
from rationalize.methods.registry import register
from rationalize.methods.ssr_unif import SSRUnif
from rationalize.text.batch import Batch


@register(
    "ssr_plus",
    title="SSR_plus",
    supervision="part",
    reference="this project, after Yue et al., ICLR 2024",
    faithful=True,
    headline="SSR_unif on all texts: discovered phrases are looked up in the rest, and not to be selected there.",
    passes_train="2 (gold) or 3 (rest)",
    passes_explain="2",
    needs_shortcuts=True,
    needs_rest=True,
)
class SSRPlus(SSRUnif):
    """SSR_unif whose selector learns in texts without annotation, too, what not to select."""

    class Config(SSRUnif.Config):
        """Settings of ssr_plus."""

        avoid_weight: Weight = 1.0
        """λ_avoid."""

    config: Config

    def weights(self) -> dict[str, float]:
        return {**super().weights(), "avoid": self.config.avoid_weight}

    def unsupervised_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """L_un, indecision on carried-over shortcuts, and not selecting them."""
        logits = self.net.select(batch)
        return {
            **sampled_losses(self.net, logits, self.config.selection, batch, generator),
            **uniform_losses(self, batch, self.config.kl),
            **avoid_losses(logits, batch),
        }
