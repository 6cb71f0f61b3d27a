"""A bidirectional GRU as an encoder."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rationalize.config import EncoderConfig
from rationalize.models.reading import Encoder, Reading


class GruEncoder(Encoder):
    """Embeddings and a bidirectional GRU, max-pooled over time: the classic encoder of this field."""

    def __init__(self, vocabulary: int, config: EncoderConfig, mask_id: int) -> None:
        super().__init__()
        self.hidden_size = config.hidden_size
        self.mask_id = mask_id
        self.embedding = nn.Embedding(vocabulary, config.hidden_size)
        self.gru = nn.GRU(
            config.hidden_size,
            config.hidden_size // 2,
            num_layers=config.layers,
            batch_first=True,
            bidirectional=True,
        )
        self.dropout = nn.Dropout(0.1 if config.dropout is None else config.dropout)

    def embed(self, input_ids: Tensor) -> Tensor:
        embedded: Tensor = self.embedding(input_ids)
        return embedded

    def mask_embedding(self) -> Tensor:
        return self.embedding.weight[self.mask_id]

    def forward(
        self, embedded: Tensor, attention: Tensor, token_types: Tensor, positions: Tensor | None = None
    ) -> Reading:
        # A GRU has no attention to weaken, so the piece itself is scaled down.
        embedded = self.dropout(embedded) * attention.to(embedded.dtype)[..., None]
        present = attention > 0
        positions = torch.arange(1, present.shape[1] + 1, device=present.device)
        lengths = (present * positions).amax(-1).clamp(min=1)
        packed = nn.utils.rnn.pack_padded_sequence(
            embedded, lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        hidden, _ = nn.utils.rnn.pad_packed_sequence(
            self.gru(packed)[0], True, total_length=embedded.shape[1]
        )
        pooled = hidden.masked_fill(~present[..., None], float("-inf")).amax(1)
        return Reading(self.dropout(hidden), self.dropout(pooled))
