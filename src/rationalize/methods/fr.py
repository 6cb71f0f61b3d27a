"""Folded rationalization."""

from __future__ import annotations

from typing import Literal

from torch import nn

from rationalize.methods.options import SelectionConfig
from rationalize.methods.registry import About, register
from rationalize.methods.select_predict import SelectionGame
from rationalize.models.encoder import EncoderFactory
from rationalize.models.rationale_net import RationaleNet


class FoldedSelectionConfig(SelectionConfig):
    """The usual settings, with an encoder that is always shared."""

    shared_encoder: Literal[True] = True
    """Selector and predictor have one encoder."""


@register(
    About(
        name="fr",
        title="FR",
        supervision="none",
        reference="Liu et al., NeurIPS 2022",
        cite="Liu et al. 2022",
        faithful=True,
        headline="Selector and predictor are one normalized encoder with two heads, so neither runs ahead.",
    )
)
class FR(SelectionGame):
    """Un-RAT, folded into one encoder: overfitting the predictor to poor rationales would hurt the selector as well.

    **Learns from** labels.

    **Objective** as un_rat; one encoder, whose vectors pass one layer normalization before either head.

    **Phases** `unsupervised` over all examples; one turn moves everything.

    **Encoder passes** Select, predict, as un_rat.

    **Inference** as un_rat. The released code keeps its sampling noise even then.

    **Defaults** as un_rat, whose encoder is already shared as in SSR, so that FR only adds the normalization. The paper
    (a GRU, lr 1e-4, batch 256) draws hard masks, scales embeddings to zero and holds the share over the batch with
    λ1 = λ2 = 10: `sampler: gumbel_hard`, `masking: zero`, `sparsity: batch` come close to it.

    **Pitfalls** The paper normalizes vectors before pooling, this code afterwards; with max pooling that differs.
    Pretrained transformers already end in a normalization. It still selects whatever predicts the label, shortcuts
    included.
    """

    class Config(SelectionGame.Config):
        """Settings of fr."""

        selection: FoldedSelectionConfig = FoldedSelectionConfig()

    config: Config

    def make_net(self, encoders: EncoderFactory) -> RationaleNet:
        net = super().make_net(encoders)
        norm = nn.LayerNorm(net.encoder.hidden_size)
        net.select_head = nn.Sequential(norm, net.select_head)
        net.class_head = nn.Sequential(norm, net.class_head)
        return net
