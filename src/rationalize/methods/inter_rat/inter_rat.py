"""Interventional rationalization."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from rationalize.methods.inter_rat.intervention import InterventionNet
from rationalize.methods.registry import About, register
from rationalize.methods.select_predict import SelectionGame
from rationalize.models.encoder import EncoderFactory


@register(
    About(
        name="inter_rat",
        title="Inter-RAT",
        supervision="none",
        reference="Yue et al., EMNLP 2023",
        cite="Yue et al. 2023",
        faithful=True,
        headline="Selector and predictor weight every class by its frequency, to block confounders.",
    )
)
class InterRAT(SelectionGame):
    """Un-RAT with a backdoor adjustment, in which labels represent the confounder.

    **Learns from** labels, and the frequency of each class in the training examples.

    **Objective** as un_rat, with intervened heads: L_c an embedding of class c, P(c) its share.
    Selector: A_i = softmax_c(h_i · W_l L_c), k_i = Σ_c P(c) A_ic L_c, logits W_s [h_i ; k_i].
    Predictor: v the vector of x ⊗ m, B = softmax_c(v · L_c), k = Σ_c P(c) B_c L_c, logits W_p [v ; k].

    **Phases** `unsupervised` over all examples; one turn moves everything.

    **Encoder passes** Select, predict, as un_rat.

    **Inference** m by decoding (the best `share`) without noise (the released code samples even then); the label comes
    from the selected words alone.

    **Defaults** L ~ N(0, 0.1) and shared by both sides, W_l on the selector's alone, as released. P(c) is counted
    from the training labels and saved with the model; the released code hard-codes it for two classes. v is
    the encoder's own pooled vector; `vector: selected` takes the mean of the selected pieces. The rest is
    as in un_rat, for comparison; the released code rounds masks (`selection.sampler: gumbel_hard`).

    **Pitfalls** The intervention is a fixed weighting of soft label features: with equally frequent classes it does
    little. All pitfalls of un_rat.
    """

    class Config(SelectionGame.Config):
        """Settings of inter_rat."""

        vector: Literal["pooled", "selected"] = "pooled"
        """What the predictor decides on: the encoder's pooled vector, or the mean of the selected pieces'."""

    config: Config
    net: InterventionNet

    def make_net(self, encoders: EncoderFactory) -> InterventionNet:
        return InterventionNet(encoders, self.n_classes, **self.net_settings(), vector=self.config.vector)

    def see_labels(self, labels: Tensor) -> None:
        """Count the classes."""
        counts = torch.bincount(labels, minlength=self.n_classes)
        self.net.prior.copy_(counts / counts.sum())
