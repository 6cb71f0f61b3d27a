"""Multi-generator rationalization."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import torch
from pydantic import Field
from torch import Tensor, nn

from rationalize.config import Weight
from rationalize.methods.base import Losses, Phase, Turn
from rationalize.methods.parts import draw_mask
from rationalize.methods.passes import Passes, PhasePasses
from rationalize.methods.registry import About, register
from rationalize.methods.select_predict import ApartGame
from rationalize.models.encoder import EncoderFactory
from rationalize.text.batch import Batch


class Selector(nn.Module):
    """An encoder and a selection head."""

    def __init__(self, encoders: EncoderFactory, layers: int | None) -> None:
        super().__init__()
        self.encoder = encoders.make(layers)
        self.head = nn.Linear(self.encoder.hidden_size, 2)

    def forward(self, batch: Batch) -> Tensor:
        """Return selection logits (b, n, 2)."""
        reading = self.encoder.read(batch)
        logits: Tensor = self.head(reading.hidden)
        return logits


@register(
    About(
        name="mgr",
        title="MGR",
        supervision="none",
        reference="Liu et al., ACL 2023",
        cite="Liu et al. 2023",
        faithful=True,
        headline="Several selectors feed one predictor, so no single one can lead it astray; the first is kept.",
    )
)
class MGR(ApartGame):
    """Un-RAT with several selectors in training.

    **Learns from** labels.

    **Objective** Σ_i [CE(y, q(x ⊗ m_i)) + λ1 · |share(m_i) - α| + λ2 · switches(m_i)] over n selectors, each with its
    own encoder and head, and one predictor. Selector i (from 0) learns 1 + i · c times as fast as the
    first, the predictor at 1 / n.

    **Phases** `unsupervised` over all examples; one turn moves all selectors and the predictor.

    **Encoder passes** Select and predict, for each of the n selectors; an explanation needs one. n + 1 encoders in
    memory during training and in the saved model.

    **Inference** The first selector alone; m by decoding (the best `share`) without noise, the label from the selected
    words alone. (The released code can also average the selectors' predictions, and samples.)

    **Defaults** n = 3 as in the paper; c = 0.5 is ours (the released code has rates 3, 6 and 9 times the base). λ1, λ2
    and a share held per text as un_rat (the released code, with hard masks, holds it over the batch).

    **Pitfalls** Three times the cost of un_rat. Pretrained selectors start alike and differ only in head, noise and
    rate. All may agree on a shortcut.
    """

    class Config(ApartGame.Config):
        """Settings of mgr."""

        selectors: Annotated[int, Field(ge=1)] = 3
        """How many selectors (n)."""
        spread: Weight = 0.5
        """How much faster each selector learns than the one before it (c)."""

    config: Config
    costs = Passes(train=(PhasePasses("unsupervised", 6, selecting=3),), explain=2, explain_selecting=1)

    def __init__(self, config: Config, encoders: EncoderFactory, n_classes: int) -> None:
        super().__init__(config, encoders, n_classes)
        layers = config.selection.layers
        self.others = nn.ModuleList(Selector(encoders, layers) for _ in range(config.selectors - 1))

    def players(self) -> dict[str, list[nn.Parameter]]:
        others = {f"selector_{i}": list(other.parameters()) for i, other in enumerate(self.others, 1)}
        return {**super().players(), **others}

    def phases(self) -> tuple[Phase, ...]:
        play = Turn("play", self.unsupervised_loss, tuple(self.players()), self.rates)
        return (Phase("unsupervised", "all", (play,)),)

    def rates(self) -> dict[str, float]:
        """Return how fast each player learns, relative to the first selector."""
        others = {f"selector_{i}": 1 + i * self.config.spread for i in range(1, self.config.selectors)}
        return {"predictor": 1 / self.config.selectors, **others}

    def unsupervised_loss(self, batch: Batch, generator: torch.Generator) -> Losses:
        """L_un summed over the selectors."""
        totals: Losses = {}
        for select in (self.net.select, *self.others):
            mask = draw_mask(select(batch), self.config.selection, batch, generator)
            parts = {"task": self.task_loss(batch, mask), **self.shape_losses(batch, mask)}
            for name, loss in parts.items():
                totals[name] = totals[name] + loss if name in totals else loss
        return totals

    @classmethod
    def passes(cls, options: Config, n_classes: int) -> Passes:
        n = options.selectors
        played = PhasePasses("unsupervised", 2 * n, selecting=n)
        return replace(super().passes(options, n_classes), train=(played,))
