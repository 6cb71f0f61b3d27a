"""Vanilla unsupervised rationalization."""

from __future__ import annotations

from rationalize.methods.passes import Passes, PhasePasses
from rationalize.methods.registry import About, register
from rationalize.methods.select_predict import SelectionGame


@register
class UnRAT(SelectionGame):
    """Selector and predictor trained in tandem on labels alone.

    **Learns from** labels.

    **Objective** CE(y, q(x ⊗ m)) + λ1 · |share(m) - α| + λ2 · switches(m), m drawn by Gumbel-softmax.

    **Phases** `unsupervised` over all examples; one turn moves everything.

    **Encoder passes** Select, predict. The selector's pass also gives the full-text label when the encoder is shared;
    otherwise an explanation has one pass more for that.

    **Inference** m by decoding without noise: the best `share` of pieces, as much as training was held to. (`decoding:
    argmax` takes those above ½, far fewer: where no piece is sure to be taken, many are drawn.) The label comes from
    the selected words alone.

    **Defaults** α = 0.2 and gumbel_soft at temperature 1 as in the SSR paper; λ1 = 1 and λ2 = 0.1 are ours,
    since the released 0.01 does not hold the share.

    **Pitfalls** The pair may agree on a code: which or how many words are taken gives the label away
    (degeneration). The health report looks for it. Soft masks in training, hard ones afterwards: a gap that
    gumbel_hard closes at the price of noisier gradients. It takes whatever predicts the label, shortcuts
    included.
    """

    about = About(
        name="un_rat",
        title="Un-RAT",
        supervision="none",
        reference="Lei et al., EMNLP 2016, with Gumbel-softmax (Jang et al., ICLR 2017)",
        cite="Lei et al. 2016",
        faithful=True,
        headline="The selector picks words, the predictor sees only them; both learn from the label.",
        passes=Passes(train=(PhasePasses("unsupervised", 2),), explain=2),
    )
