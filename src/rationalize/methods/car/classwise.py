"""Selectors that argue: one head per class on one encoder, each given a label."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from rationalize.models.encoder import EncoderFactory
from rationalize.text.batch import Batch


class ClasswiseSelector(nn.Module):
    """C selection heads. Each reads a piece's vector and a one-hot label; a hidden layer lets them interact."""

    def __init__(self, encoders: EncoderFactory, n_classes: int, layers: int | None = None) -> None:
        super().__init__()
        self.n_classes = n_classes
        self.encoder = encoders.make(layers)
        width = self.encoder.hidden_size
        self.heads = nn.ModuleList(
            nn.Sequential(nn.Linear(width + n_classes, width), nn.Tanh(), nn.Linear(width, 2))
            for _ in range(n_classes)
        )

    def read(self, batch: Batch) -> Tensor:
        """Return one vector per piece (b, n, d), for all heads."""
        return self.encoder.read(batch).hidden

    def select(self, hidden: Tensor, paths: Tensor, given: Tensor) -> Tensor:
        """Return selection logits (b, n, 2), each row from the head of its path (b,), given a label (b,)."""
        labels = F.one_hot(given, self.n_classes).to(hidden.dtype)[:, None].expand(-1, hidden.shape[1], -1)
        inputs = torch.cat([hidden, labels], -1)
        logits = hidden.new_zeros(*hidden.shape[:2], 2)
        for path, head in enumerate(self.heads):
            rows = paths == path
            logits[rows] = head(inputs[rows]).to(logits.dtype)
        return logits
