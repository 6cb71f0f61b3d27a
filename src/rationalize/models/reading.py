"""The interface of every encoder: embed pieces, read embeddings, pool."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor, nn

from rationalize.errors import ConfigError
from rationalize.models.encoder_pass import run_pass
from rationalize.text.batch import Batch


class Reading(NamedTuple):
    """An encoder's output: one vector per piece (b, n, d) and one per row (b, d)."""

    hidden: Tensor
    pooled: Tensor


class Encoder(nn.Module):
    """Base of all encoders."""

    hidden_size: int
    packs: bool = False
    """Whether pieces without attention can be left out of the input while the others keep their positions."""
    name: str = "this encoder"
    """What errors call it."""
    depth: int | None = None
    """Its layers, if they can be read one by one."""

    def embed(self, input_ids: Tensor) -> Tensor:
        """Look up word-piece embeddings, before positions. (b, n) -> (b, n, e)."""
        raise NotImplementedError

    def mask_embedding(self) -> Tensor:
        """Return the embedding of a hidden piece. (e,)."""
        raise NotImplementedError

    def forward(
        self, embedded: Tensor, attention: Tensor, token_types: Tensor, positions: Tensor | None = None
    ) -> Reading:
        """Read embeddings; `attention` is bool, or in [0, 1] to weaken attention to a piece.

        `positions` (b, n) are the pieces' positions in the text, for encoders that pack; None: 0, 1, 2 …
        """
        raise NotImplementedError

    def __call__(
        self, embedded: Tensor, attention: Tensor, token_types: Tensor, positions: Tensor | None = None
    ) -> Reading:
        """Read embeddings as `forward` does, in the precision and by the processes that training has set."""
        reading: Reading = run_pass(super().__call__, embedded, attention, token_types, positions)
        return reading

    def read(self, batch: Batch) -> Reading:
        """Read the full texts."""
        return self(self.embed(batch.input_ids), batch.attention, batch.token_types)

    def read_to(self, batch: Batch, layers: int) -> Tensor:
        """Read the full texts through the first layers alone. (b, n, d)."""
        raise NotImplementedError

    def read_past(self, batch: Batch, layers: int) -> tuple[Tensor, Reading]:
        """Read the full texts once: what the first layers make of them (b, n, d), and the end."""
        raise NotImplementedError

    def checkpoint_layers(self) -> None:
        """Keep no activations inside layers while training: the backward pass computes them again."""
        raise ConfigError(
            f"training.gradient_checkpointing: encoder {self.name} cannot compute its layers again. Leave it out.",
            field="training.gradient_checkpointing",
        )

    def list_layers(self) -> list[nn.Module]:
        """List its layers, if it has any that can be kept in parts (`training.sharding`)."""
        return []

    def keep_layers(self, layers: int) -> None:
        """Drop all layers above the first ones."""
        raise NotImplementedError

    def freeze_layers(self, layers: int) -> None:
        """Stop embeddings and the first layers from learning, for good. Gradients still pass through them."""
        raise NotImplementedError
