"""The words of a corpus, shard by shard: documents of any number, of which one shard at a time is in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from typing import Protocol

import numpy as np

from rationalize.shortcuts.phrases import Ints, Texts, read_texts
from rationalize.shortcuts.shard_arrays import ShardArrays, ShardCrew, load_texts, save_texts
from rationalize.text.words import WordRule
from rationalize.types import Example

SHARD_CHARACTERS = 4_000_000
"""Characters of the documents of a shard, about: a process holds some ten times as many bytes while it reads them."""

_ROWS = ("words", "documents", "sentences", "starts", "ends", "gold")


class DocumentShards(Protocol):
    """Documents in shards."""

    @property
    def bounds(self) -> Sequence[int]:
        """Index of the first document of each shard, and the number of all documents."""
        ...

    def read_shard(self, number: int) -> Sequence[Example]:
        """Return the documents of a shard."""
        ...

    def __getitem__(self, index: int) -> Example: ...


@dataclass(frozen=True)
class HeldDocuments:
    """Documents in memory."""

    examples: Sequence[Example]
    bounds: Sequence[int]

    def read_shard(self, number: int) -> Sequence[Example]:
        """Return the documents of a shard."""
        return self.examples[self.bounds[number] : self.bounds[number + 1]]

    def __getitem__(self, index: int) -> Example:
        return self.examples[index]


def hold_documents(examples: Sequence[Example]) -> HeldDocuments:
    """Cut documents in memory into shards."""
    bounds, characters = [0], 0
    for index, example in enumerate(examples):
        if characters >= SHARD_CHARACTERS:
            bounds.append(index)
            characters = 0
        characters += len(example.text)
    return HeldDocuments(examples, [*bounds, len(examples)])


@dataclass(frozen=True)
class WordCorpus:
    """A corpus as words.

    Attributes:
        documents: The documents.
        arrays: What is known about the shards.
        positions: Number of words before each shard, and of all words.
        crew: Who works on the shards.
    """

    documents: DocumentShards
    arrays: ShardArrays
    positions: Sequence[int]
    crew: ShardCrew

    @property
    def shards(self) -> int:
        """The number of shards."""
        return len(self.documents.bounds) - 1

    def load(self, number: int) -> Texts:
        """Return the words of a shard; documents are numbered over the whole corpus, words within the shard."""
        found = load_shard(self.arrays, number)
        return replace(found, documents=found.documents + self.documents.bounds[number])


def read_corpus(
    documents: DocumentShards, labels: Ints, rule: WordRule, arrays: ShardArrays, crew: ShardCrew
) -> WordCorpus:
    """Read the words of all documents; `labels` has the index of each document's label."""
    shards = len(documents.bounds) - 1
    for number in range(shards):
        arrays.save(number, "labels", labels[documents.bounds[number] : documents.bounds[number + 1]])
    sizes = crew.map(partial(_read_shard, documents, rule, arrays), shards)
    return WordCorpus(documents, arrays, np.cumsum([0, *sizes]).tolist(), crew)


def _read_shard(documents: DocumentShards, rule: WordRule, arrays: ShardArrays, number: int) -> int:
    examples = documents.read_shard(number)
    texts = read_texts(examples, rule)
    for name in _ROWS:
        values = getattr(texts, name)
        arrays.save(number, name, values if values.dtype == bool else values.astype(np.int32))
    arrays.save(number, "annotated", np.array([each.rationale is not None for each in examples], dtype=bool))
    save_texts(arrays, number, "vocabulary", list(texts.vocabulary))
    return len(texts.words)


def load_shard(arrays: ShardArrays, number: int) -> Texts:
    """Return the words of a shard; documents and words are numbered within it."""
    rows = {name: arrays.load(number, name) for name in _ROWS}
    vocabulary = load_texts(arrays, number, "vocabulary") if len(rows["words"]) else []
    return Texts(**rows, vocabulary=vocabulary)


def hash_words(words: Sequence[str]) -> Ints:
    """Return a number of 63 bits for each word, which no other word of the corpus will have."""
    digests = b"".join(
        blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest() for word in words
    )
    return (np.frombuffer(digests, dtype=np.uint64) >> np.uint64(1)).astype(np.int64)
