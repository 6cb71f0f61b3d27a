"""Selector and predictor heads that see every class, weighted by how common it is (backdoor adjustment)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rationalize.models.encoder import EncoderFactory
from rationalize.models.masking import read_masked
from rationalize.models.rationale_net import RationaleNet
from rationalize.models.reading import Reading
from rationalize.text.batch import Batch


def intervene(keys: Tensor, labels: Tensor, prior: Tensor) -> Tensor:
    """Σ_c P(c) · softmax_c(key · L_c) · L_c. keys: (…, d), labels: (C, d), prior: (C,) -> (…, d)."""
    return ((keys @ labels.T).softmax(-1) * prior) @ labels


class InterventionNet(RationaleNet):
    """A rationale net whose heads read each vector beside what it has of the classes.

    `prior` (C,) is saved with the weights; it is uniform until someone counts.
    """

    prior: Tensor

    def __init__(
        self,
        encoders: EncoderFactory,
        n_classes: int,
        *,
        shared: bool = True,
        masking: str = "mix",
        vector: str = "pooled",
    ) -> None:
        super().__init__(encoders, n_classes, shared=shared, masking=masking)
        width = self.encoder.hidden_size
        self.vector = vector
        self.select_head = nn.Linear(2 * width, 2)
        self.class_head = nn.Linear(2 * width, n_classes)
        self.labels = nn.Parameter(0.1 * torch.randn(n_classes, width))
        self.project = nn.Linear(width, width, bias=False)
        self.register_buffer("prior", torch.full((n_classes,), 1 / n_classes))

    def read(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Selection logits (b, n, 2) and full-text class logits (b, C)."""
        reading = self._full(batch, selector=True)
        for_classes = reading if self.shared else self._full(batch, selector=False)
        return self._select_logits(reading), self._classify(for_classes, batch)

    def select(self, batch: Batch) -> Tensor:
        """Selection logits (b, n, 2)."""
        return self._select_logits(self._full(batch, selector=True))

    def classify(self, batch: Batch) -> Tensor:
        """Class logits (b, C) of the full text."""
        return self._classify(self._full(batch, selector=False), batch)

    def _classify(self, reading: Reading, batch: Batch) -> Tensor:
        return self._class_logits(reading, batch.selectable.to(self.prior.dtype))

    def predict(self, batch: Batch, mask: Tensor) -> Tensor:
        """Class logits (b, C) from what the mask (b, n) shows."""
        mask = mask.to(self.prior.dtype) if mask.dtype == torch.bool else mask
        return self._class_logits(
            read_masked(self.encoder, batch, mask, self.masking), mask * batch.selectable
        )

    def _select_logits(self, reading: Reading) -> Tensor:
        """h · W_l L_c is (h W_l) · L_c."""
        hidden = reading.hidden
        confounder = intervene(self.project(hidden), self.labels, self.prior)
        logits: Tensor = self.select_head(torch.cat([hidden, confounder], -1))
        return logits

    def _class_logits(self, reading: Reading, mask: Tensor) -> Tensor:
        vector = reading.pooled if self.vector == "pooled" else selected_mean(reading.hidden, mask)
        confounder = intervene(vector, self.labels, self.prior)
        logits: Tensor = self.class_head(torch.cat([vector, confounder], -1))
        return logits


def selected_mean(hidden: Tensor, mask: Tensor) -> Tensor:
    """Mean of the selected pieces' vectors; 0 where nothing is selected. (b, n, d), (b, n) -> (b, d)."""
    total = (hidden * mask[..., None]).sum(1)
    return total / mask.sum(-1, keepdim=True).clamp(min=1)
