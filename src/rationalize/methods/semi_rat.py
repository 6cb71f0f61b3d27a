"""Vanilla semi-supervised rationalization."""

from __future__ import annotations

from rationalize.methods.base import Phase, Turn, gold_then_rest
from rationalize.methods.lessons import GoldLessons
from rationalize.methods.options import LabelConfig
from rationalize.methods.passes import count_gold_then_rest
from rationalize.methods.registry import About, register
from rationalize.methods.select_predict import SelectionGame


@register(
    About(
        name="semi_rat",
        title="Semi-RAT",
        supervision="part",
        reference="semi-supervised baseline of Yue et al., ICLR 2024",
        cite="Yue et al. 2024",
        faithful=True,
        headline="Supervised where there is a gold rationale, unsupervised on the rest, with everything shared.",
    )
)
class SemiRAT(GoldLessons, SelectionGame):
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

    **Pitfalls** The unsupervised phase comes last in every epoch and drifts away from the gold rationales
    (forgetting). The predictor reads full texts in one phase and rationales in the other.
    """

    class Config(LabelConfig, SelectionGame.Config, GoldLessons.Config):
        """Settings of semi_rat."""

    config: Config
    costs = count_gold_then_rest(1, 2)

    def phases(self) -> tuple[Phase, ...]:
        return gold_then_rest(Turn("learn", self.supervised_loss), Turn("play", self.unsupervised_loss))
