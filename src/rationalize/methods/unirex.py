"""Unified learning of rationales: task, faithfulness and plausibility at once."""

from __future__ import annotations

from typing import Annotated, Literal

import torch
from pydantic import Field
from torch import Tensor
from torch.nn import functional as F

from rationalize.config import Weight
from rationalize.methods.base import Losses
from rationalize.methods.lessons import gold_losses
from rationalize.methods.options import PositiveWeight, SelectorConfig, SupervisionConfig
from rationalize.methods.passes import Passes, PhasePasses
from rationalize.methods.registry import About, register
from rationalize.methods.sup_rat import SupRAT
from rationalize.models.decoding import topk
from rationalize.models.losses import hinge
from rationalize.text.batch import Batch


@register(
    About(
        name="unirex",
        title="UNIREX",
        supervision="full",
        reference="Chan et al., ICML 2022",
        cite="Chan et al. 2022",
        faithful=False,
        headline="Sup-RAT whose top words must be necessary (comprehensive) and sufficient for its task model.",
    )
)
class UNIREX(SupRAT):
    """Sup-RAT, plus losses on the label when the top-scored words are removed, or kept alone.

    **Learns from** labels and gold rationales (`data.gold_share` is taken as 1; rows without gold still teach
    the other parts).

    **Objective** CE(y, q(x)) + w_p L_plaus + w_c L_comp + w_s L_suff. With ℓ the cross-entropy of a row and r_k its
    best ⌈k·n⌉ pieces by selection score, k in `shares`: L_comp = mean_k max(-M_c, ℓ(x) - ℓ(x∖r_k)) + M_c, L_suff =
    mean_k max(-M_s, ℓ(r_k) - ℓ(x)) + M_s. L_plaus is the token loss against gold with positives weighted up.

    r_k is a hard choice and passes no gradient: L_comp and L_suff move the task model alone (with a shared encoder
    the selector's features along with it); the selection head learns only from L_plaus.

    **Phases** `supervised` over all examples; one turn moves everything.

    **Encoder passes** The full text, and all rationales and complements of the batch at once, two readings for every
    share in K (memory: `training.micro_batch`, or fewer `shares`).

    **Inference** m by decoding: the best `share` of pieces, or with `decoding: argmax` those with a score above 0; the
    label comes from the full text, so it is not faithful by construction.

    **Defaults** K = {1, 5, 10, 20, 50} %, M_c = 1, M_s = 0.1, w_c = w_s = 0.5, pieces hidden from attention, positives
    weighted by others / gold, as in the released code; the shared encoder is its SLM, `shared_encoder: false` its
    DLM. The released token loss is divided by the number of pieces, ours by the sum of weights, nearly twice that:
    w_p = 1 here corresponds to 0.5 there.

    **Pitfalls** Eleven readings of every text: by far the most expensive step. L_suff lowers ℓ(r_k) - ℓ(x), which also
    rewards a worse ℓ(x): keep w_s at or below w_c.
    """

    class Config(SupRAT.Config):
        """Settings of unirex."""

        class Readout(SelectorConfig):
            """How scores are decoded, and unselected pieces hidden."""

            masking: Literal["mix", "zero", "attention"] = "attention"
            """How pieces are hidden from the task model."""

        class Supervision(SupervisionConfig):
            """Plausibility: how gold rationales teach the scores."""

            positive_weight: PositiveWeight = "balanced"
            """Extra weight of gold pieces in the token loss; balanced: others / gold in the batch."""

        selection: Readout = Readout()
        supervision: Supervision = Supervision()
        shares: Annotated[tuple[Annotated[float, Field(gt=0, le=0.5)], ...], Field(min_length=1)] = (
            0.01,
            0.05,
            0.1,
            0.2,
            0.5,
        )
        """K, as shares of the text. At most half, so that no rationale is the whole text."""
        comprehensiveness_weight: Weight = 0.5
        """w_c."""
        sufficiency_weight: Weight = 0.5
        """w_s."""
        comprehensiveness_margin: Weight = 1.0
        """M_c: how much worse the task model should be without r_k."""
        sufficiency_margin: Weight = 0.1
        """M_s: how much better it should be on r_k alone than on everything."""

    config: Config
    costs = Passes(train=(PhasePasses("supervised", 11),), explain=2)
    epoch_label = "rationale"

    def weights(self) -> dict[str, float]:
        return {
            **super().weights(),
            "comprehensiveness": self.config.comprehensiveness_weight,
            "sufficiency": self.config.sufficiency_weight,
        }

    def counts(self, batch: Batch) -> dict[str, float]:
        rows = float((batch.selectable.sum(-1) > 1).sum())
        return {**super().counts(batch), "comprehensiveness": rows, "sufficiency": rows}

    def supervised_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """The label, the gold rationale, and the label without and with only the top-scored words."""
        select_logits, class_logits = self.net.read(batch)
        losses = gold_losses(select_logits, class_logits, self.config.supervision, batch)
        # A text of one piece cannot be split into rationale and complement.
        rows = batch.selectable.sum(-1) > 1
        if bool(rows.any()):
            scores = (select_logits[..., 1] - select_logits[..., 0])[rows]
            losses |= self.faithfulness_losses(scores, class_logits[rows], batch.rows(rows))
        return losses

    def faithfulness_losses(self, scores: Tensor, class_logits: Tensor, batch: Batch) -> Losses:
        """Compute L_comp and L_suff from selection scores (b, n) and full-text logits (b, C)."""
        shares = self.config.shares
        rationales = torch.stack([topk(scores, batch.selectable, share) for share in shares])
        masks = torch.stack([rationales, batch.selectable & ~rationales])  # (2, K, b, n)
        everyone = torch.arange(len(batch), device=scores.device).repeat(2 * len(shares))
        logits = self.net.predict(batch.rows(everyone), masks.flatten(0, 2))
        masked = F.cross_entropy(logits, batch.labels[everyone], reduction="none").view(masks.shape[:3])
        full = F.cross_entropy(class_logits, batch.labels, reduction="none")
        with_rationale, with_rest = masked
        return {
            "comprehensiveness": hinge(full, with_rest, self.config.comprehensiveness_margin).mean(),
            "sufficiency": hinge(with_rationale, full, self.config.sufficiency_margin).mean(),
        }

    @classmethod
    def passes(cls, options: Config, n_classes: int) -> Passes:
        more = len(options.shares) - len(cls.Config().shares)
        return super().passes(options, n_classes).add(2 * more, "supervised")
