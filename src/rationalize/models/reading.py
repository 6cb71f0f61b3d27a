"""What every encoder does: embed pieces, read embeddings, pool."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor, nn

from rationalize.text.batch import Batch


class Reading(NamedTuple):
    """What an encoder says of a batch: a vector per piece (b, n, d) and one per row (b, d)."""

    hidden: Tensor
    pooled: Tensor


class Encoder(nn.Module):
    """Base of all encoders."""

    hidden_size: int
    packs: bool = False
    """Whether pieces that nobody may look at can be left out of the input, if the others keep their positions."""

    def embed(self, input_ids: Tensor) -> Tensor:
        """Word-piece embeddings, before positions. (b, n) -> (b, n, e)."""
        raise NotImplementedError

    def mask_embedding(self) -> Tensor:
        """The embedding that stands for a hidden piece. (e,)."""
        raise NotImplementedError

    def forward(
        self, embedded: Tensor, attention: Tensor, token_types: Tensor, positions: Tensor | None = None
    ) -> Reading:
        """Read embeddings; `attention` is bool, or in [0, 1] to weaken the look at a piece.

        `positions` (b, n) are the pieces' places in the text; None: one after the other. Only for encoders that
        pack.
        """
        raise NotImplementedError

    def read(self, batch: Batch) -> Reading:
        """Read the full texts."""
        reading: Reading = self(self.embed(batch.input_ids), batch.attention, batch.token_types)
        return reading
