"""Selector and predictor heads that see every class, weighted by its frequency (backdoor adjustment)."""

from __future__ import annotations

from typing import Unpack

import torch
from torch import Tensor, nn

from rationalize.models.encoder import EncoderFactory
from rationalize.models.masking import read_masked
from rationalize.models.rationale_net import NetSettings, RationaleNet
from rationalize.models.reading import Reading
from rationalize.text.batch import Batch


def intervene(keys: Tensor, labels: Tensor, prior: Tensor) -> Tensor:
    """Return Σ_c P(c) · softmax_c(key · L_c) · L_c. keys: (…, d), labels: (C, d), prior: (C,) -> (…, d)."""
    return ((keys @ labels.T).softmax(-1) * prior) @ labels


class InterventionNet(RationaleNet):
    """A rationale net whose heads read each vector beside its expected class embedding.

    `prior` (C,) is saved with the weights; it is uniform until classes are counted.
    """

    prior: Tensor

    def __init__(
        self, encoders: EncoderFactory, n_classes: int, *, vector: str, **settings: Unpack[NetSettings]
    ) -> None:
        super().__init__(encoders, n_classes, **settings)
        width = self.encoder.hidden_size
        self.vector = vector
        self.select_head = nn.Linear(2 * width, 2)
        self.class_head = nn.Linear(2 * width, n_classes)
        self.labels = nn.Parameter(0.1 * torch.randn(n_classes, width))
        self.project = nn.Linear(width, width, bias=False)
        self.register_buffer("prior", torch.full((n_classes,), 1 / n_classes))

    def predict(self, batch: Batch, mask: Tensor) -> Tensor:
        """Return class logits (b, C) for what the mask (b, n) shows."""
        mask = mask.to(self.prior.dtype) if mask.dtype == torch.bool else mask
        return self._classify(read_masked(self.encoder, batch, mask, self.masking), mask * batch.selectable)

    def _score_pieces(self, hidden: Tensor) -> Tensor:
        # h · W_l L_c is (h W_l) · L_c.
        confounder = intervene(self.project(hidden), self.labels, self.prior)
        logits: Tensor = self.select_head(torch.cat([hidden, confounder], -1))
        return logits

    def _classify(self, reading: Reading, mask: Tensor) -> Tensor:
        vector = reading.pooled if self.vector == "pooled" else average_selected(reading.hidden, mask)
        confounder = intervene(vector, self.labels, self.prior)
        logits: Tensor = self.class_head(torch.cat([vector, confounder], -1))
        return logits


def average_selected(hidden: Tensor, mask: Tensor) -> Tensor:
    """Average the selected pieces' vectors; 0 if nothing is selected. (b, n, d), (b, n) -> (b, d)."""
    mask = mask.float() if mask.dtype == torch.bool else mask
    total = (hidden * mask[..., None]).sum(1)
    return total / mask.sum(-1, keepdim=True).clamp(min=1)
