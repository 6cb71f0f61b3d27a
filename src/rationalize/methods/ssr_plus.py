"""SSR beyond the paper: shortcuts that statistics find, exchanged between texts."""

from __future__ import annotations

from rationalize.methods.registry import About, register
from rationalize.methods.semi_rat import SemiRAT


@register(
    About(
        name="ssr_plus",
        title="SSR+",
        supervision="part",
        reference="this library, after Yue et al., ICLR 2024",
        cite="ours",
        faithful=True,
        headline="Semi-RAT on texts whose label-revealing phrases were shuffled between all texts.",
        exchange=True,
    )
)
class SSRPlus(SemiRAT):
    """Semi-RAT on texts whose shortcuts were dealt out anew; ours, not published.

    **Learns from** labels everywhere, gold rationales on `data.gold_share` of the examples, and the fixed phrases
    that go with a label in the training texts (as `rationalize shortcuts audit` finds them, with the gold in use).

    **Objective** that of semi_rat. What differs is the text: before anything is trained, the phrases of all training
    texts are shuffled and dealt out anew, whatever the labels. Each text keeps its evidence and its label; a phrase is
    as frequent as before, and no longer tells the label. Phrases that touch gold stay.

    **Phases** as semi_rat, with no further loss.

    **Encoder passes** As semi_rat. No finder is trained.

    **Inference** as semi_rat, on texts as they are.

    **Defaults** `shortcuts.exchange: true`, which a run can give to any other method; the rules for phrases are those
    of the audit.

    **Pitfalls** It removes fixed phrases of three words or more; a single word, a topic or a text's length can be a
    shortcut too. A phrase that is evidence but nobody marked is exchanged as well: look at artifacts/exchange.json.
    Where a shortcut holds in use as well, a model without it is right less often there.
    """
