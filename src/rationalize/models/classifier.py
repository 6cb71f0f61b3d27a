"""An encoder and a class head: the plain classifier, which methods also use as teacher, judge or identifier."""

from __future__ import annotations

from torch import Tensor, nn

from rationalize.models.encoder import EncoderFactory
from rationalize.models.masking import pool_masked
from rationalize.text.batch import Batch


class Classifier(nn.Module):
    """Classifies whole or masked texts: class logits (b, C). Without `labels`, its classes are not the task's."""

    def __init__(
        self, encoders: EncoderFactory, n_classes: int, masking: str = "mix", *, labels: bool = True
    ) -> None:
        super().__init__()
        self.masking = masking
        self.encoder = encoders.make()
        width = self.encoder.hidden_size
        self.head = encoders.make_class_head(width, n_classes) if labels else nn.Linear(width, n_classes)

    def read(self, batch: Batch) -> Tensor:
        """Return the class logits of the full texts."""
        reading = self.encoder.read(batch)
        logits: Tensor = self.head(reading.pooled)
        return logits

    def predict(self, batch: Batch, mask: Tensor, masking: str | None = None) -> Tensor:
        """Return the class logits of what the mask (b, n) shows; `masking` overrides how the rest is hidden."""
        logits: Tensor = self.head(pool_masked(self.encoder, batch, mask, masking or self.masking))
        return logits
