"""Vanilla supervised rationalization."""

from __future__ import annotations

import torch
from torch import Tensor

from rationalize.config import Strict
from rationalize.methods.base import Losses, Method, Output, Phase, Turn
from rationalize.methods.options import ReadoutConfig, SupervisionConfig
from rationalize.methods.parts import supervised_losses
from rationalize.methods.registry import register
from rationalize.models.encoder import EncoderFactory
from rationalize.models.rationale_net import RationaleNet
from rationalize.text.batch import Batch


@register(
    "sup_rat",
    title="Sup-RAT",
    supervision="full",
    reference="multi-task baseline of Yue et al., ICLR 2024",
    faithful=False,
    headline="Two heads on one encoder: the label from the full text, the rationale by token classification.",
    passes_train="1",
    passes_explain="2",
)
class SupRAT(Method):
    """One encoder, two tasks: classify the text, mark its gold rationale.

    **Learns from** labels and a gold rationale for every training example (`data.gold_share` is taken as 1).

    **Objective** CE(y, q(x)) + token cross-entropy of the selection logits against the gold mask, mean over
    document pieces of examples that have gold.

    **Phases** `supervised` over all examples; one turn moves everything.

    **Encoder passes** 1 per training step, 2 per explanation (the second only to report what the rationale
    alone would say).

    **Inference** m by decoding; the label comes from the full text, so it is not faithful by construction.

    **Defaults** as in the SSR paper. The released code averages the token loss over padding and specials too,
    which makes it select less; here the mean is over document pieces, with an optional positive weight.

    **Pitfalls** Gold rationales are few words of many: without a positive weight it under-selects at first.
    """

    class Config(Strict):
        """Settings of sup_rat."""

        selection: ReadoutConfig = ReadoutConfig()
        supervision: SupervisionConfig = SupervisionConfig()

    config: Config

    def __init__(self, config: Config, encoders: EncoderFactory, n_classes: int) -> None:
        super().__init__(config, encoders, n_classes)
        chosen = config.selection
        self.net = RationaleNet(encoders, n_classes, shared=chosen.shared_encoder, masking=chosen.masking)

    def phases(self) -> tuple[Phase, ...]:
        return (Phase("supervised", "all", (Turn("learn", self.supervised_loss),)),)

    def weights(self) -> dict[str, float]:
        return {"select": self.config.supervision.select_weight}

    def supervised_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """The label from the full text, and the gold rationale token by token."""
        return supervised_losses(self.net, self.config.supervision, batch)

    def explain(self, batch: Batch) -> Output:
        select_logits, full_text = self.net.read(batch)
        mask, scores = self.config.selection.decode(select_logits, batch)
        rationale = self.label_from_mask(batch, mask)
        return Output(mask, scores, full_text, full_text=full_text, rationale=rationale)

    def label_from_mask(self, batch: Batch, mask: Tensor) -> Tensor:
        return self.net.predict(batch, mask)
