"""Semantic augmentation: a shortcut word becomes the word nearest in meaning in the nearest other example.

Two datastores, as in the paper: a global one of whole-text vectors finds the neighbour x^r of x; a local one of
x^r's word vectors finds the replacement of each shortcut word. Vectors come from the encoder of the trained
Un-RAT. Words that are gold in x or in x^r are never used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from rationalize.augment.replace import replace_words, shortcut_words
from rationalize.inference.engine import Engine
from rationalize.models.encoder import Encoder
from rationalize.text.batch import Row, collate, cut
from rationalize.text.words import word_mask, word_spans
from rationalize.types import Example


@dataclass(frozen=True, slots=True)
class Represented:
    """A text as vectors: one for the whole (d,), one per word (words, d). A word that was not read has zeros."""

    whole: np.ndarray
    words: np.ndarray
    read: np.ndarray


def represent(engine: Engine, examples: Sequence[Example], batch_size: int = 32) -> list[Represented]:
    """Vectors of every text's first window, by the model's (first) encoder."""
    encoder = next(module for module in engine.method.modules() if isinstance(module, Encoder))
    device = next(encoder.parameters()).device
    engine.method.eval()
    encoded = [engine.text.encode(example, truncate=True) for example in examples]
    found: list[Represented | None] = [None] * len(encoded)
    for indexes in cut([len(item.windows[0]) for item in encoded], batch_size):
        rows = [Row("", encoded[index].windows[0]) for index in indexes]
        batch = collate(rows, engine.text.tokenizer.pad_token_id or 0).to(device)
        with torch.inference_mode():
            reading = encoder.read(batch.input_ids, batch.attention, batch.token_types)
        hidden, pooled = reading.hidden.float().cpu().numpy(), reading.pooled.float().cpu().numpy()
        for place, index in enumerate(indexes):
            item = encoded[index]
            vectors, read = _word_means(item.windows[0].words, hidden[place], len(item.words))
            found[index] = Represented(pooled[place], vectors, read)
    return [each for each in found if each is not None]


def _word_means(words: np.ndarray, hidden: np.ndarray, n_words: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean of each word's piece vectors."""
    inside = np.flatnonzero(words >= 0)
    sums = np.zeros((n_words, hidden.shape[1]), dtype=np.float32)
    np.add.at(sums, words[inside], hidden[inside])
    counts = np.bincount(words[inside], minlength=n_words)
    return sums / np.maximum(counts, 1)[:, None], counts > 0


def neighbours(vectors: np.ndarray, ids: Sequence[str]) -> list[int]:
    """For each text the nearest other one by L2; exact ties go to the smaller id."""
    import faiss

    order = sorted(range(len(ids)), key=lambda index: ids[index])
    # FAISS keeps the earlier of two equally near vectors, so they are stored in the order of their ids.
    stored = np.ascontiguousarray(vectors[order], dtype=np.float32)
    index = faiss.IndexFlatL2(stored.shape[1])
    index.add(stored)
    _, near = index.search(np.ascontiguousarray(vectors, dtype=np.float32), min(2, len(ids)))
    return [next((order[place] for place in row if order[place] != own), own) for own, row in enumerate(near)]


def augment_semantic(examples: Sequence[Example], represented: Sequence[Represented]) -> list[Example]:
    """A copy of every example in which each shortcut word is replaced by retrieval."""
    near = neighbours(np.stack([each.whole for each in represented]), [example.id for example in examples])
    return [
        _augmented(example, represented[own], examples[near[own]], represented[near[own]])
        for own, example in enumerate(examples)
    ]


def _augmented(example: Example, own: Represented, other: Example, theirs: Represented) -> Example:
    import faiss

    wanted = [index for index in shortcut_words(example) if own.read[index]]
    allowed = _allowed(example, other, theirs)
    new: dict[int, str] = {}
    if wanted and len(allowed) and other.id != example.id:
        store = np.ascontiguousarray(theirs.words[allowed])
        _, near = faiss.knn(np.ascontiguousarray(own.words[wanted]), store, 1)
        spans = word_spans(other.text)
        for index, (place,) in zip(wanted, near, strict=True):
            span = spans[allowed[place]]
            new[index] = other.text[span.start : span.end]
    return replace_words(example, new, "~semantic")


def _allowed(example: Example, other: Example, theirs: Represented) -> np.ndarray:
    """Words of the neighbour that are read, not gold there, and do not spell a gold word of the example."""
    own_words, words = word_spans(example.text), word_spans(other.text)
    own_gold = word_mask(own_words, example.rationale or ())
    forbidden = {
        example.text[word.start : word.end].lower()
        for word, gold in zip(own_words, own_gold, strict=True)
        if gold
    }
    gold = word_mask(words, other.rationale or ())
    return np.array(
        [
            index
            for index, word in enumerate(words)
            if theirs.read[index]
            and not gold[index]
            and other.text[word.start : word.end].lower() not in forbidden
        ],
        dtype=int,
    )
