"""Vanilla unsupervised rationalization."""

from __future__ import annotations

import torch
from torch import Tensor

from rationalize.config import Strict
from rationalize.methods.base import Losses, Method, Output, Phase, Turn
from rationalize.methods.options import SelectionConfig
from rationalize.methods.parts import unsupervised_losses
from rationalize.methods.registry import register
from rationalize.models.encoder import EncoderFactory
from rationalize.models.rationale_net import RationaleNet
from rationalize.text.batch import Batch


@register(
    "un_rat",
    title="Un-RAT",
    supervision="none",
    reference="Lei et al., EMNLP 2016, with Gumbel-softmax (Jang et al., ICLR 2017)",
    faithful=True,
    headline="The selector picks words, the predictor sees only them; both learn from the label.",
    passes_train="2",
    passes_explain="2",
)
class UnRAT(Method):
    """Selector and predictor trained in tandem on labels alone.

    **Learns from** labels.

    **Objective** CE(y, q(x ⊗ m)) + λ1 · |share(m) - α| + λ2 · switches(m), m drawn by Gumbel-softmax.

    **Phases** `unsupervised` over all examples; one turn moves everything.

    **Encoder passes** 2 per training step (select, predict), 2 per explanation (the selector's pass also
    gives the full-text label when the encoder is shared).

    **Inference** m by decoding without noise; the label comes from the selected words alone.

    **Defaults** α = 0.2 and gumbel_soft at temperature 1 as in the SSR paper; λ1 = 1 and λ2 = 0.1 are ours,
    since the released 0.01 does not hold the share.

    **Pitfalls** The pair may agree on a code: which or how many words are taken gives the label away
    (degeneration). The health report looks for it. Soft masks in training, hard ones afterwards: a gap that
    gumbel_hard closes at the price of noisier gradients. It takes whatever predicts the label, shortcuts
    included.
    """

    class Config(Strict):
        """Settings of un_rat."""

        selection: SelectionConfig = SelectionConfig()

    config: Config

    def __init__(self, config: Config, encoders: EncoderFactory, n_classes: int) -> None:
        super().__init__(config, encoders, n_classes)
        self.net = self.new_net(encoders)

    def new_net(self, encoders: EncoderFactory) -> RationaleNet:
        """Selector and predictor as configured."""
        chosen = self.config.selection
        return RationaleNet(encoders, self.n_classes, shared=chosen.shared_encoder, masking=chosen.masking)

    def phases(self) -> tuple[Phase, ...]:
        return (Phase("unsupervised", "all", (Turn("play", self.unsupervised_loss),)),)

    def weights(self) -> dict[str, float]:
        chosen = self.config.selection
        return {"sparsity": chosen.sparsity_weight, "continuity": chosen.continuity_weight}

    def unsupervised_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """The label from a sampled rationale, and the rationale's length and smoothness."""
        return unsupervised_losses(self.net, self.config.selection, batch, generator)

    def explain(self, batch: Batch) -> Output:
        select_logits, full_text = self.net.read(batch)
        mask, scores = self.config.selection.decode(select_logits, batch)
        rationale = self.label_from_mask(batch, mask)
        return Output(mask, scores, rationale, full_text=full_text, rationale=rationale)

    def label_from_mask(self, batch: Batch, mask: Tensor) -> Tensor:
        return self.net.predict(batch, mask)
