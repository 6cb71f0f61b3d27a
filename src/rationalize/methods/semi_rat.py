"""Vanilla semi-supervised rationalization."""

from __future__ import annotations

from typing import Any

import torch

from rationalize.methods.base import Losses, Phase, Turn, gold_then_rest
from rationalize.methods.options import LabelConfig, SupervisionConfig
from rationalize.methods.parts import count_gold_pieces, supervised_losses
from rationalize.methods.passes import Passes, PhasePasses
from rationalize.methods.registry import About, register
from rationalize.methods.select_predict import SelectionGame
from rationalize.text.batch import Batch


@register
class SemiRAT(SelectionGame):
    """Sup-RAT on the annotated examples, Un-RAT on the others, same encoder and heads.

    **Learns from** labels everywhere, gold rationales on `data.gold_share` of the examples.

    **Objective** L_sup on the gold pool (label from the full text, token cross-entropy on the rationale),
    L_un on the rest (label from the sampled rationale, share and smoothness).

    **Phases** `supervised` over the gold pool, then `unsupervised` over the rest, every epoch; one turn each,
    moving everything. `training.interleave` mixes their batches.

    **Encoder passes** As sup_rat on the gold pool, as un_rat on the rest.

    **Inference** m by decoding (the best `share`); the label from the selected words alone, or from the full text with
    `label_from: full_text` (both are reported; only the former is faithful).

    **Defaults** 25 % gold rationales as in the SSR paper; λ1, λ2 as in un_rat.

    **Pitfalls** The unsupervised pass comes last in every epoch and drifts away from the gold style
    (forgetting). The predictor reads full texts in one phase and rationales in the other.
    """

    about = About(
        name="semi_rat",
        title="Semi-RAT",
        supervision="part",
        reference="semi-supervised baseline of Yue et al., ICLR 2024",
        cite="Yue et al. 2024",
        faithful=True,
        headline="Supervised where there is a gold rationale, unsupervised on the rest, with everything shared.",
        passes=Passes(
            train=(PhasePasses("supervised", 1, pool="gold"), PhasePasses("unsupervised", 2, pool="rest")),
            explain=2,
        ),
    )

    class Config(LabelConfig, SelectionGame.Config):
        """Settings of semi_rat."""

        supervision: SupervisionConfig = SupervisionConfig()

    config: Config

    def phases(self) -> tuple[Phase, ...]:
        return gold_then_rest(Turn("learn", self.supervised_loss), Turn("play", self.unsupervised_loss))

    def weights(self) -> dict[str, float]:
        return {**super().weights(), "select": self.config.supervision.select_weight}

    def counts(self, batch: Batch) -> dict[str, float]:
        return {**super().counts(batch), **count_gold_pieces(batch, self.config.supervision)}

    def supervised_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """The label from the full text, and the gold rationale token by token."""
        return supervised_losses(self.net, self.config.supervision, batch)

    @classmethod
    def passes(cls, options: Any, n_classes: int) -> Passes:
        stated = super().passes(options, n_classes)
        return stated if options.selection.shared_encoder else stated.add(1, "supervised")
