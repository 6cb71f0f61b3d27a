"""Norm to rationale."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from rationalize.config import Weight
from rationalize.methods.base import Losses, Output, Phase, Turn
from rationalize.methods.options import ApartSelectionConfig
from rationalize.methods.parts import draw_mask, explain_batch, shape_losses
from rationalize.methods.registry import register
from rationalize.methods.un_rat import UnRAT
from rationalize.models.losses import log_norm, task_cross_entropy
from rationalize.models.masking import read_masked
from rationalize.models.reading import Reading
from rationalize.models.transformer_encoder import TransformerEncoder
from rationalize.text.batch import Batch


@register(
    "n2r",
    title="N2R",
    supervision="none",
    reference="Liu et al., ICLR 2025",
    faithful=True,
    headline="Words are selected that the predictor's encoder responds to strongly, whatever the label.",
    passes_train="4",
    passes_explain="2",
)
class N2R(UnRAT):
    """A predictor's weights have learned directions that matter; inputs off them come out as short vectors.

    **Learns from** labels.

    **Objective** `play`: L_un of un_rat (N2R+RNP), or with `label_for_selector` off only the predictor's
    CE(y, q(x ⊗ sg(m))). `norm`, with the predictor frozen and the mask drawn anew: the selector's
    min -λ_n · mean log(1e-6 + ‖v(x ⊗ m)‖₂) + λ1 · |share(m) - α| + λ2 · switches(m), v the vector that the
    predictor's head sees.

    **Phases** `unsupervised` over all examples; on every batch `play` moves selector and predictor (or the
    predictor alone), then `norm` the selector.

    **Encoder passes** 4 per training step (select and predict in either turn), 2 per explanation. Two encoders in
    memory.

    **Inference** m by decoding without noise (the released code samples even then); the label comes from the
    selected words alone.

    **Defaults** N2R+RNP, as its authors advise for a baseline. A pooler that ends in tanh or a normalization gives
    vectors of nearly one length: there v is the mean over all pieces (`norm_of: auto`). λ_n = 1; the paper (a
    GRU, lr 1e-4, batch 128) has λ1 = 11, λ2 = 12, the settings here are un_rat's.

    **Pitfalls** In normalized transformers even the mean's length says little. Without the label the selector may
    settle on anything that is loud. Shortcuts are directions that matter, too.
    """

    class Config(UnRAT.Config):
        """Settings of n2r."""

        selection: ApartSelectionConfig = ApartSelectionConfig()
        label_for_selector: bool = True
        """Whether the selector also learns from the label."""
        norm_weight: Weight = 1.0
        """λ_n."""
        norm_of: Literal["auto", "pooled", "mean"] = "auto"
        """Whose length counts: the pooled vector's, or the mean piece's. auto: mean where pooling takes one piece."""

    config: Config

    def players(self) -> dict[str, list[nn.Parameter]]:
        return self.net.players()

    def phases(self) -> tuple[Phase, ...]:
        movers = ("selector", "predictor") if self.config.label_for_selector else ("predictor",)
        play = Turn("play", self.unsupervised_loss, movers)
        norm = Turn("norm", self.norm_loss, ("selector",))
        return (Phase("unsupervised", "all", (play, norm)),)

    def weights(self) -> dict[str, float]:
        return {**super().weights(), "norm": self.config.norm_weight}

    def unsupervised_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """L_un, or the predictor's part of it."""
        if self.config.label_for_selector:
            return super().unsupervised_loss(batch, generator)
        with torch.no_grad():
            mask = draw_mask(self.net.select(batch), self.config.selection, batch, generator)
        return {"task": task_cross_entropy(self.net.predict(batch, mask), batch.labels)}

    def norm_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """How short the rationale's vector is, and the mask's shape."""
        mask = draw_mask(self.net.select(batch), self.config.selection, batch, generator)
        vectors = self.vectors(read_masked(self.net.encoder, batch, mask, self.net.masking), batch)
        return {"norm": -log_norm(vectors), **shape_losses(mask, self.config.selection, batch)}

    def vectors(self, reading: Reading, batch: Batch) -> Tensor:
        """The vectors (b, d) whose length counts."""
        encoder = self.net.encoder
        one_piece = isinstance(encoder, TransformerEncoder) and encoder.pooling != "mean"
        if self.config.norm_of == "pooled" or (self.config.norm_of == "auto" and not one_piece):
            return reading.pooled
        weights = batch.attention.to(reading.hidden.dtype)[..., None]
        return (reading.hidden * weights).sum(1) / weights.sum(1)

    def explain(self, batch: Batch) -> Output:
        return explain_batch(self.net, self.config.selection, batch)
