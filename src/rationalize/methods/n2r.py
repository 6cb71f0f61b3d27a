"""Norm to rationale."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from rationalize.config import Weight
from rationalize.methods.base import Losses, Phase, Turn
from rationalize.methods.passes import Passes, PhasePasses
from rationalize.methods.registry import About, register
from rationalize.methods.select_predict import ApartGame
from rationalize.models.losses import log_norm
from rationalize.models.masking import read_masked
from rationalize.models.reading import Reading
from rationalize.models.transformer_encoder import TransformerEncoder
from rationalize.text.batch import Batch


@register(
    About(
        name="n2r",
        title="N2R",
        supervision="none",
        reference="Liu et al., ICLR 2025",
        cite="Liu et al. 2025",
        faithful=True,
        headline="Selects words to which the predictor's encoder responds strongly, whatever the label.",
    )
)
class N2R(ApartGame):
    """A predictor's weights learn the directions that matter; inputs in other directions become short vectors.

    **Learns from** labels.

    **Objective** `play`: L_un of un_rat (N2R+RNP), or with `label_for_selector` off only the predictor's
    CE(y, q(x ⊗ sg(m))). `norm`, with the predictor frozen and the mask drawn anew: the selector's
    min -λ_n · mean log(1e-6 + ‖v(x ⊗ m)‖₂) + λ1 · |share(m) - α| + λ2 · switches(m), v the vector that the
    predictor's head sees.

    **Phases** `unsupervised` over all examples; on every batch `play` moves selector and predictor (or the
    predictor alone), then `norm` the selector.

    **Encoder passes** Select and predict, in either turn. Two encoders in memory.

    **Inference** m by decoding (the best `share`) without noise (the released code samples even then); the label comes
    from the selected words alone.

    **Defaults** N2R+RNP, as its authors advise for a baseline. A pooler that ends in tanh or a normalization returns
    vectors of nearly equal length: there v is the mean over all pieces (`norm_of: auto`). λ_n = 1; the paper (a GRU, lr
    1e-4, batch 128) draws hard masks and holds the share over the batch with λ1 = 11, λ2 = 12; the settings here are
    un_rat's.

    **Pitfalls** In normalized transformers even the mean's length carries little information. Without the label the
    selector may settle on anything that makes long vectors. Shortcuts are directions that matter, too.
    """

    class Config(ApartGame.Config):
        """Settings of n2r."""

        label_for_selector: bool = True
        """Whether the selector also learns from the label."""
        norm_weight: Weight = 1.0
        """λ_n."""
        norm_of: Literal["auto", "pooled", "mean"] = "auto"
        """Whether the pooled vector's length counts, or the mean piece's. auto: mean if pooling takes one piece."""

    config: Config
    costs = Passes(train=(PhasePasses("unsupervised", 4, selecting=2),), explain=2, explain_selecting=1)

    def phases(self) -> tuple[Phase, ...]:
        play = Turn("play", self.predictor_loss, ("predictor",))
        if self.config.label_for_selector:
            play = Turn("play", self.unsupervised_loss, ("selector", "predictor"))
        norm = Turn("norm", self.norm_loss, ("selector",))
        return (Phase("unsupervised", "all", (play, norm)),)

    def weights(self) -> dict[str, float]:
        return {**super().weights(), "norm": self.config.norm_weight}

    def norm_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """The length of the rationale's vector (to be raised), and the mask's shape."""
        mask = self.draw(batch, generator)
        vectors = self.pool_vectors(read_masked(self.net.encoder, batch, mask, self.net.masking), batch)
        return {"norm": -log_norm(vectors), **self.shape_losses(batch, mask)}

    def pool_vectors(self, reading: Reading, batch: Batch) -> Tensor:
        """Return the vectors (b, d) whose length counts."""
        encoder = self.net.encoder
        one_piece = isinstance(encoder, TransformerEncoder) and encoder.pooling != "mean"
        if self.config.norm_of == "pooled" or (self.config.norm_of == "auto" and not one_piece):
            return reading.pooled
        weights = batch.attention.to(reading.hidden.dtype)[..., None]
        return (reading.hidden * weights).sum(1) / weights.sum(1)
