"""Vanilla unsupervised rationalization."""

from __future__ import annotations

from rationalize.methods.registry import About, register
from rationalize.methods.select_predict import SelectionGame


@register(
    About(
        name="un_rat",
        title="Un-RAT",
        supervision="none",
        reference="Lei et al., EMNLP 2016, with Gumbel-softmax (Jang et al., ICLR 2017)",
        cite="Lei et al. 2016",
        faithful=True,
        headline="The selector picks words, the predictor sees only them; both learn from the label.",
    )
)
class UnRAT(SelectionGame):
    """Selector and predictor trained in tandem on labels alone.

    **Learns from** labels.

    **Objective** CE(y, q(x ⊗ m)) + λ1 · |share(m) - α| + λ2 · switches(m), m drawn by Gumbel-softmax.

    **Phases** `unsupervised` over all examples; one turn moves everything.

    **Encoder passes** Select, predict. With a shared encoder, the selector's pass also yields the full-text label;
    otherwise an explanation needs one more pass for that.

    **Inference** m by decoding without noise: the best `share` of pieces, the same share as in training.
    (`decoding: argmax` selects those above ½, often far fewer: training may draw many pieces of which none is above ½.)
    The label comes from the selected words alone.

    **Defaults** α = 0.2 and gumbel_soft at temperature 1 as in the SSR paper; λ1 = 1 and λ2 = 0.1 are ours,
    since the released 0.01 is too weak to hold the share.

    **Pitfalls** The pair may agree on a code in which the position or number of selected words encodes the label
    (degeneration). The health report checks for this. Masks are soft in training and hard afterwards: gumbel_hard
    closes this gap, with noisier gradients. It selects whatever predicts the label, shortcuts included.
    """
