"""SSR with shortcuts injected into the prediction."""

from __future__ import annotations

from rationalize.methods.registry import About, register
from rationalize.methods.semi_rat import SemiRAT


@register(
    About(
        name="ssr_unif",
        title="SSR_unif",
        supervision="part",
        reference="Yue et al., ICLR 2024",
        cite="Yue et al. 2024",
        faithful=True,
        headline="Semi-RAT whose predictor must be undecided when it sees only discovered shortcuts.",
        needs_shortcuts=True,
        uniform_weight=0.1,
    )
)
class SSRUnif(SemiRAT):
    """Semi-RAT, plus a penalty on decisions from shortcuts: a term that a run can add to other methods as well.

    **Learns from** labels everywhere, gold rationales on `data.gold_share` of the examples, and the shortcuts
    that a trained Un-RAT reveals in those (settings under `shortcuts`).

    **Objective** L_un + L_sup + λ_unif · KL(U ‖ q(y | z_s)), U uniform over the classes and z_s the shortcut words
    alone. Examples without a shortcut are left out of that term.

    **Phases** as semi_rat: `supervised` (with the uniform term) over the gold pool, then `unsupervised` over the
    rest, every epoch; all parameters are shared between them. With `shortcuts.propagate` (beyond the paper) the rest
    has shortcuts too, with the uniform term.

    **Encoder passes** As semi_rat, and one over the shortcuts alone, for rows that have any: in the gold pool, and in
    the rest if shortcuts were propagated to it.

    **Inference** as semi_rat.

    **Defaults** λ_unif = 0.1 (`shortcuts.uniform_weight`; 0 leaves Semi-RAT) and KL(U ‖ q), mean over the batch, as the
    paper prints it. The released code has KL(q ‖ U) summed over the batch: `shortcuts.uniform_kl: q_to_uniform` and
    four times the weight come close to it.

    **Pitfalls** It can only unlearn discovered shortcuts: look at artifacts/shortcuts.json first. A
    finder that selects by class turns the term into noise on one class.
    """
