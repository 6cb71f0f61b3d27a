"""A selector and a predictor, on one shared encoder or one each: the pair behind nearly every method."""

from __future__ import annotations

from typing import TypedDict

from torch import Tensor, nn

from rationalize.models.depth import LAYERS_FIELD, check_depth
from rationalize.models.encoder import EncoderFactory
from rationalize.models.masking import pool_masked
from rationalize.models.reading import Reading
from rationalize.text.batch import Batch


class NetSettings(TypedDict):
    """What a net is made with, besides encoders and classes; see `RationaleNet`."""

    shared: bool
    masking: str
    layers: int | None


class RationaleNet(nn.Module):
    """Selector f_s, W_s and predictor f_p, W_p.

    With a shared encoder, one pass over the full text serves both the selector and the full-text predictor. By default
    `select_head` is linear (W_s) and returns two logits per piece. With `layers`, pieces are selected by what the first
    layers make of them: those of the shared encoder, or all that the selector's own has.
    """

    def __init__(
        self,
        encoders: EncoderFactory,
        n_classes: int,
        *,
        shared: bool = True,
        masking: str = "mix",
        layers: int | None = None,
        select_head: nn.Module | None = None,
    ) -> None:
        super().__init__()
        self.shared = shared
        self.masking = masking
        self.encoder = encoders.make()
        self.selector_encoder = self.encoder if shared else encoders.make(layers)
        self.layers = layers if shared else None
        if self.layers is not None:
            check_depth(self.layers, self.encoder.depth, self.encoder.name, LAYERS_FIELD)
        width = self.encoder.hidden_size
        self.select_head = nn.Linear(width, 2) if select_head is None else select_head
        self.class_head: nn.Module = encoders.make_class_head(width, n_classes)

    def read(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return selection logits (b, n, 2) and full-text class logits (b, C)."""
        if self.layers is not None:
            hidden, for_classes = self.encoder.read_past(batch, self.layers)
        else:
            reading = self.selector_encoder.read(batch)
            for_classes = reading if self.shared else self.encoder.read(batch)
            hidden = reading.hidden
        return self._score_pieces(hidden), self._classify(for_classes, batch.selectable)

    def select(self, batch: Batch) -> Tensor:
        """Return selection logits (b, n, 2)."""
        if self.layers is not None:
            return self._score_pieces(self.encoder.read_to(batch, self.layers))
        return self._score_pieces(self.selector_encoder.read(batch).hidden)

    def classify(self, batch: Batch) -> Tensor:
        """Return class logits (b, C) of the full text."""
        return self._classify(self.encoder.read(batch), batch.selectable)

    def predict(self, batch: Batch, mask: Tensor) -> Tensor:
        """Return class logits (b, C) for what the mask (b, n) shows."""
        logits: Tensor = self.class_head(pool_masked(self.encoder, batch, mask, self.masking))
        return logits

    def players(self) -> dict[str, list[nn.Parameter]]:
        """Return the parameters of selector and predictor, if each has its own encoder."""
        return {
            "selector": [*self.selector_encoder.parameters(), *self.select_head.parameters()],
            "predictor": [*self.encoder.parameters(), *self.class_head.parameters()],
        }

    def _score_pieces(self, hidden: Tensor) -> Tensor:
        logits: Tensor = self.select_head(hidden)
        return logits

    def _classify(self, reading: Reading, mask: Tensor) -> Tensor:
        """Return class logits (b, C) from a reading of what the mask (b, n) shows."""
        logits: Tensor = self.class_head(reading.pooled)
        return logits
