"""SSR with counterfactual copies in place of discovered shortcuts."""

from __future__ import annotations

from rationalize.methods.registry import About, register
from rationalize.methods.semi_rat import SemiRAT


@register(
    About(
        name="ssr_plus",
        title="SSR_plus",
        supervision="part",
        reference="this library, after Yue et al., ICLR 2024",
        cite="this library",
        faithful=True,
        headline="Semi-RAT that also learns from copies in which evidence of another label has changed the label.",
        augment="counterfactual",
    )
)
class SSRPlus(SemiRAT):
    """Semi-RAT on annotated examples and on counterfactual copies of them: what is not evidence tells no label.

    **Learns from** labels everywhere, gold rationales on `data.gold_share` of the examples.

    **Objective** As semi_rat; L_sup on the copies too. In a copy, evidence of any label takes the place of an annotated
    example's own and sets its label, so that the rest of the text, shortcuts of any kind included, stands beside all
    labels alike. SSR's terms are not used: no shortcut has to be discovered.

    **Phases** `supervised` over the gold pool, `supervised_augmented` over the copies, then `unsupervised` over the
    rest, every epoch; one turn each, moving everything. `training.interleave` mixes their batches.

    **Encoder passes** As semi_rat, and as on the gold pool for the copies.

    **Inference** as semi_rat.

    **Defaults** `augment.kind: counterfactual`, `augment.share: 0.25` (with gold on a quarter, one copy of each
    annotated example), 25 % gold rationales. `augment.kind: none` leaves Semi-RAT.

    **Pitfalls** It needs gold of two labels or more, and no queries: what is evidence for one query is none for
    another. Where a shortcut holds in the test data too, a model that uses it can be right more often. The rest is not
    copied: phrases that an audit suspects there are dealt out anew by `shortcuts.exchange`.
    """
