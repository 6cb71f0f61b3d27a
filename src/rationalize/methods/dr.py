"""Decoupled rationalization with asymmetric learning rates."""

from __future__ import annotations

import torch
from torch import Tensor

from rationalize.config import Share
from rationalize.methods.base import Phase, Turn
from rationalize.methods.registry import About, register
from rationalize.methods.select_predict import ApartGame
from rationalize.models.encoder import EncoderFactory
from rationalize.text.batch import Batch


@register(
    About(
        name="dr",
        title="DR",
        supervision="none",
        reference="Liu et al., KDD 2023",
        cite="Liu et al. 2023",
        faithful=True,
        headline="Un-RAT whose predictor learns more slowly the less it is shown.",
    )
)
class DR(ApartGame):
    """Un-RAT with a brake on the predictor, which keeps it smooth (a small Lipschitz constant).

    **Learns from** labels.

    **Objective** as un_rat, selector and predictor apart. In every step the predictor's learning rate is the
    selector's times max(s, `floor`), s the selected share of this batch; if nothing was selected, times 1.

    **Phases** `unsupervised` over all examples; one turn moves selector and predictor.

    **Encoder passes** Select, predict. Two encoders in memory.

    **Inference** m by decoding (the best `share`) without noise (the released code samples even then); the label comes
    from the selected words alone.

    **Defaults** floor 0.05 as released. The paper (a GRU, lr 2e-4) draws hard masks and holds the share over the
    batch with λ1 = 11, λ2 = 12; the settings here are un_rat's.

    **Pitfalls** With a small share the predictor hardly moves: give it more epochs, or a higher learning rate. The
    brake works against degeneration, not against shortcuts.
    """

    class Config(ApartGame.Config):
        """Settings of dr."""

        floor: Share = 0.05
        """Smallest factor on the predictor's learning rate."""

    config: Config

    def __init__(self, config: Config, encoders: EncoderFactory, n_classes: int) -> None:
        super().__init__(config, encoders, n_classes)
        self._selected = self._selectable = 0.0  # in the current step, over its micro-batches

    def phases(self) -> tuple[Phase, ...]:
        play = Turn("play", self.unsupervised_loss, ("selector", "predictor"), self.rates)
        return (Phase("unsupervised", "all", (play,)),)

    def draw(self, batch: Batch, generator: torch.Generator) -> Tensor:
        """Draw a mask, and note how much it selects."""
        mask = super().draw(batch, generator)
        self._selected += float(mask.detach().sum())
        self._selectable += float(batch.selectable.sum())
        return mask

    def rates(self) -> dict[str, float]:
        """Return the brake for the step whose losses were just computed."""
        share = self._selected / max(1.0, self._selectable)
        self._selected = self._selectable = 0.0
        return {"predictor": max(share, self.config.floor) if share > 0 else 1.0}
