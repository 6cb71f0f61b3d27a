"""An encoder and a class head: the plain classifier, and what methods use as teacher, judge or identifier."""

from __future__ import annotations

from torch import Tensor, nn

from rationalize.models.encoder import EncoderFactory
from rationalize.models.masking import pool_masked
from rationalize.text.batch import Batch


class Classifier(nn.Module):
    """Class logits (b, C) of a text, whole or as a mask leaves it. Its classes are the labels unless said otherwise."""

    def __init__(
        self, encoders: EncoderFactory, n_classes: int, masking: str = "mix", *, labels: bool = True
    ) -> None:
        super().__init__()
        self.masking = masking
        self.encoder = encoders.new()
        width = self.encoder.hidden_size
        self.head = encoders.new_class_head(width, n_classes) if labels else nn.Linear(width, n_classes)

    def read(self, batch: Batch) -> Tensor:
        """From everything."""
        reading = self.encoder.read(batch)
        logits: Tensor = self.head(reading.pooled)
        return logits

    def predict(self, batch: Batch, mask: Tensor, masking: str | None = None) -> Tensor:
        """From what the mask (b, n) shows, hidden in the given way or the usual one."""
        logits: Tensor = self.head(pool_masked(self.encoder, batch, mask, masking or self.masking))
        return logits
