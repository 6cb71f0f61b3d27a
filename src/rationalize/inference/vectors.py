"""Vectors of whole texts and of their words, by a trained model's encoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from rationalize.inference.engine import Engine
from rationalize.models.reading import Encoder
from rationalize.text.batch import InputRow, collate, cut_batches
from rationalize.types import Example


@dataclass(frozen=True, slots=True)
class Represented:
    """A text as vectors: one for the whole (d,), one per word (words, d). Words that were not read have zeros."""

    whole: np.ndarray
    words: np.ndarray
    read: np.ndarray


def represent(engine: Engine, examples: Sequence[Example], batch_size: int = 32) -> list[Represented]:
    """Compute vectors of every text's first window, with the model's (first) encoder."""
    encoder = next(module for module in engine.method.modules() if isinstance(module, Encoder))
    device = next(encoder.parameters()).device
    if engine.method.training:
        engine.method.eval()
    encoded = engine.text.encode_all(examples, truncate=True)
    found: list[Represented | None] = [None] * len(encoded)
    for indexes in cut_batches([len(item.windows[0]) for item in encoded], batch_size):
        rows = [InputRow("", encoded[index].windows[0]) for index in indexes]
        batch = collate(rows, engine.text.pad_id).to(device)
        with torch.inference_mode():
            reading = encoder.read(batch)
        hidden, pooled = reading.hidden.float().cpu().numpy(), reading.pooled.float().cpu().numpy()
        for place, index in enumerate(indexes):
            item = encoded[index]
            vectors, read = _average_words(item.windows[0].words, hidden[place], len(item.words))
            found[index] = Represented(pooled[place], vectors, read)
    return [each for each in found if each is not None]


def _average_words(words: np.ndarray, hidden: np.ndarray, n_words: int) -> tuple[np.ndarray, np.ndarray]:
    """Average the piece vectors of each word."""
    inside = np.flatnonzero(words >= 0)
    sums = np.zeros((n_words, hidden.shape[1]), dtype=np.float32)
    np.add.at(sums, words[inside], hidden[inside])
    counts = np.bincount(words[inside], minlength=n_words)
    return sums / np.maximum(counts, 1)[:, None], counts > 0
