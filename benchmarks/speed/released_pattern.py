"""The training step of released rationalizers, transcribed as a pattern: how such code is written, not whose it is.

Two passes for every step, each over rows padded to the full length, with attention that is not fused because its
weights are dropped out; the mask is drawn by Gumbel-softmax and blended into the embeddings; the plain AdamW.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from rationalize.models.tokenizer import find_source
from rationalize.text.batch import Batch


class ReleasedPattern(nn.Module):
    """Selector and predictor that share an encoder."""

    def __init__(self, encoder: Any, n_classes: int) -> None:
        super().__init__()
        self.encoder = encoder
        width = encoder.config.hidden_size
        self.select_head, self.class_head = nn.Linear(width, 2), nn.Linear(width, n_classes)
        self.optimizer = torch.optim.AdamW(self.parameters(), lr=2e-5)

    @classmethod
    def load(cls, name: str, n_classes: int) -> ReleasedPattern:
        """Load a pretrained encoder with its own dropout and without fused attention."""
        from transformers import AutoModel
        from transformers.utils import logging

        logging.set_verbosity_error()  # the pooler that is left out is no news
        model = AutoModel.from_pretrained(
            find_source(name), attn_implementation="eager", add_pooling_layer=False, dtype=torch.float32
        )
        return cls(model, n_classes).train()

    def step(self, batch: Batch, max_tokens: int) -> None:
        """Make one step of vanilla rationalization on a batch, padded to the full length."""
        self._update(self._play(pad(batch, max_tokens)))

    def step_on_gold(self, batch: Batch, max_tokens: int) -> None:
        """Make one supervised step: one pass for the words, one for the label."""
        padded = pad(batch, max_tokens)
        logits = self.select_head(self._read(padded, self._embed(padded)))
        hidden = self._read(padded, self._embed(padded))
        words = functional.cross_entropy(logits.flatten(0, 1), padded.gold.long().flatten())
        label = functional.cross_entropy(self.class_head(hidden[:, 0]), padded.labels)
        self._update(words + label)

    def _play(self, batch: Batch) -> Tensor:
        logits = self.select_head(self._read(batch, self._embed(batch)))
        mask = functional.gumbel_softmax(logits, tau=1.0)[..., 1:] * batch.selectable[..., None]
        hidden = self._read(batch, self._embed(batch) * mask)
        share = mask.sum() / batch.selectable.sum()
        switches = (mask[:, 1:] - mask[:, :-1]).abs().mean()
        label = functional.cross_entropy(self.class_head(hidden[:, 0]), batch.labels)
        return label + (share - 0.2).abs() + 0.1 * switches

    def _update(self, loss: Tensor) -> None:
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters(), 1.0)
        self.optimizer.step()
        loss.item()

    def _embed(self, batch: Batch) -> Tensor:
        embedded: Tensor = self.encoder.get_input_embeddings()(batch.input_ids)
        return embedded

    def _read(self, batch: Batch, embedded: Tensor) -> Tensor:
        found: Tensor = self.encoder(
            inputs_embeds=embedded, attention_mask=batch.attention.long(), token_type_ids=batch.token_types
        ).last_hidden_state
        return found


def pad(batch: Batch, length: int) -> Batch:
    """Pad rows to a length."""
    more = length - batch.input_ids.shape[1]
    return batch._map(lambda tensor: functional.pad(tensor, (0, more)) if tensor.ndim == 2 else tensor)
