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
        reading = self._full(batch, selector=True)
        for_classes = reading if self.shared else self._full(batch, selector=False)
        return self.select_head(reading.hidden), self.class_head(for_classes.pooled)

    def select(self, batch: Batch) -> Tensor:
        """Selection logits (b, n, 2)."""
        logits: Tensor = self.select_head(self._full(batch, selector=True).hidden)
        return logits

    def classify(self, batch: Batch) -> Tensor:
        """Class logits (b, C) of the full text."""
        logits: Tensor = self.class_head(self._full(batch, selector=False).pooled)
        return logits

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

    def _full(self, batch: Batch, *, selector: bool) -> Reading:
        encoder = self.selector_encoder if selector else self.encoder
        return encoder.read(batch.input_ids, batch.attention, batch.token_types)
