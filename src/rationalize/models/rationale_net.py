"""A selector and a predictor on one encoder, or on one each: the pair that nearly every method is built on."""

from __future__ import annotations

from torch import Tensor, nn

from rationalize.models.encoder import EncoderFactory
from rationalize.models.masking import pool_masked
from rationalize.models.reading import Reading
from rationalize.text.batch import Batch


class RationaleNet(nn.Module):
    """Selector f_s, W_s and predictor f_p, W_p.

    With a shared encoder, one pass over the full text serves the selector and the full-text predictor. Another
    `select_head` may take the place of W_s, which gives two logits per piece.
    """

    def __init__(
        self,
        encoders: EncoderFactory,
        n_classes: int,
        *,
        shared: bool = True,
        masking: str = "mix",
        select_head: nn.Module | None = None,
    ) -> None:
        super().__init__()
        self.shared = shared
        self.masking = masking
        self.encoder = encoders.new()
        self.selector_encoder = self.encoder if shared else encoders.new()
        width = self.encoder.hidden_size
        self.select_head = nn.Linear(width, 2) if select_head is None else select_head
        self.class_head: nn.Module = encoders.new_class_head(width, n_classes)

    def read(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Selection logits (b, n, 2) and full-text class logits (b, C)."""
        reading = self.selector_encoder.read(batch)
        for_classes = reading if self.shared else self.encoder.read(batch)
        return self._score_pieces(reading), self._classify(for_classes, batch.selectable)

    def select(self, batch: Batch) -> Tensor:
        """Selection logits (b, n, 2)."""
        return self._score_pieces(self.selector_encoder.read(batch))

    def predict(self, batch: Batch, mask: Tensor) -> Tensor:
        """Class logits (b, C) from what the mask (b, n) shows."""
        logits: Tensor = self.class_head(pool_masked(self.encoder, batch, mask, self.masking))
        return logits

    def players(self) -> dict[str, list[nn.Parameter]]:
        """The parameters of selector and predictor, where each has an encoder of its own."""
        return {
            "selector": [*self.selector_encoder.parameters(), *self.select_head.parameters()],
            "predictor": [*self.encoder.parameters(), *self.class_head.parameters()],
        }

    def _score_pieces(self, reading: Reading) -> Tensor:
        logits: Tensor = self.select_head(reading.hidden)
        return logits

    def _classify(self, reading: Reading, mask: Tensor) -> Tensor:
        """Class logits (b, C) from the reading of what the mask (b, n) shows."""
        logits: Tensor = self.class_head(reading.pooled)
        return logits
