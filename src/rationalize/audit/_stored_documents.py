"""Documents on disk, in shards: written once as they come, read shard by shard, or one by one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rationalize.data.example_lines import from_line, to_line
from rationalize.shortcuts.phrases import Bools, Ints
from rationalize.shortcuts.word_corpus import SHARD_CHARACTERS
from rationalize.types import Example


@dataclass(frozen=True)
class StoredDocuments:
    """Documents on disk.

    Attributes:
        folder: Where the shards are.
        bounds: Index of the first document of each shard, and the number of all documents.
    """

    folder: Path
    bounds: Sequence[int]

    def read_shard(self, number: int) -> Sequence[Example]:
        """Return the documents of a shard."""
        kept = np.load(_locate(self.folder, number, "kept.npy"))
        with _locate(self.folder, number, "jsonl").open("rb") as lines:
            return [from_line(line) for line, keep in zip(lines, kept, strict=True) if keep]

    def __getitem__(self, index: int) -> Example:
        number = bisect_right(self.bounds, index) - 1
        offsets = np.load(_locate(self.folder, number, "offsets.npy"), mmap_mode="r")
        with _locate(self.folder, number, "jsonl").open("rb") as lines:
            lines.seek(int(offsets[index - self.bounds[number]]))
            return from_line(lines.readline())


class WrittenShard(NamedTuple):
    """What is remembered of the rows of a shard: a digest of text and label, and the number of the label."""

    digests: Ints
    labels: Ints


def write_shards(
    examples: Iterable[Example], folder: Path, numbers: dict[str, int]
) -> Iterator[WrittenShard]:
    """Write labeled examples in shards; `numbers` of labels grow as they come."""
    for number, part in enumerate(_cut(examples)):
        digests, offsets = bytearray(), [0]
        with _locate(folder, number, "jsonl").open("wb") as file:
            for example in part:
                digests += _digest(example)
                offsets.append(offsets[-1] + file.write(to_line(example)))
        np.save(_locate(folder, number, "offsets.npy"), np.array(offsets[:-1], dtype=np.int64))
        labels = [numbers.setdefault(str(example.label), len(numbers)) for example in part]
        yield WrittenShard(np.frombuffer(bytes(digests), dtype=np.int64), np.array(labels, dtype=np.int64))


def keep_rows(folder: Path, sizes: Sequence[int], kept: Bools) -> StoredDocuments:
    """Return the written rows that are kept, as documents; `sizes` has the number of rows of each shard."""
    bounds = [0]
    for number, own in enumerate(np.split(kept, np.cumsum(sizes)[:-1])):
        np.save(_locate(folder, number, "kept.npy"), own)
        offsets = _locate(folder, number, "offsets.npy")
        np.save(offsets, np.load(offsets)[own])
        bounds.append(bounds[-1] + int(own.sum()))
    return StoredDocuments(folder, bounds)


def _cut(examples: Iterable[Example]) -> Iterator[list[Example]]:
    part: list[Example] = []
    characters = 0
    for example in examples:
        part.append(example)
        characters += len(example.text)
        if characters >= SHARD_CHARACTERS:
            yield part
            part, characters = [], 0
    if part:
        yield part


def _digest(example: Example) -> bytes:
    """Return 8 bytes that no other text with its label will have."""
    told = f"{example.label}\x1f{example.text}"
    return blake2b(told.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _locate(folder: Path, number: int, ending: str) -> Path:
    return folder / f"documents-{number:06d}.{ending}"
