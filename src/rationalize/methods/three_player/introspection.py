"""A selector that first guesses the label from the full text, and selects given its guess."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rationalize.models.encoder import EncoderFactory
from rationalize.text.batch import Batch


class IntrospectiveSelector(nn.Module):
    """Classifier and selection head on one encoder.

    state = tanh(W [pooled ; embedding of the guessed label]); piece i has logits W_s tanh(A h_i + state).
    """

    def __init__(self, encoders: EncoderFactory, n_classes: int, layers: int | None = None) -> None:
        super().__init__()
        self.encoder = encoders.make(layers)
        width = self.encoder.hidden_size
        self.class_head = nn.Linear(width, n_classes)
        self.labels = nn.Embedding(n_classes, width)
        self.state = nn.Linear(2 * width, width)
        self.mix = nn.Linear(width, width)
        self.select_head = nn.Linear(width, 2)

    def read(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return selection logits (b, n, 2) and the guess's class logits (b, C)."""
        reading = self.encoder.read(batch)
        guess: Tensor = self.class_head(reading.pooled)
        state = self.state(torch.cat([reading.pooled, self.labels(guess.argmax(-1))], -1)).tanh()
        mixed = (self.mix(reading.hidden) + state[:, None]).tanh()
        return self.select_head(mixed), guess
