"""Vectors of texts and of their words in a folder, read from there where they are needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from rationalize.inference.engine import Engine
from rationalize.inference.vectors import Represented, represent
from rationalize.lazy_sequence import LazySequence
from rationalize.types import Example

CHUNK = 2_000
"""Texts that are read by the encoder before their vectors are written."""


class RepresentedFile(LazySequence[Represented]):
    """Texts as vectors, memory-mapped.

    Attributes:
        wholes: The vectors of the whole texts (texts, d).
    """

    def __init__(self, folder: Path, counts: Sequence[int], width: int) -> None:
        self._ends = np.cumsum([0, *counts])
        self.wholes = _map(folder / "wholes", (len(counts), width), np.float32)
        self._words = _map(folder / "words", (int(self._ends[-1]), width), np.float32)
        self._read = _map(folder / "read", (int(self._ends[-1]),), np.bool_)

    def make(self, index: int) -> Represented:
        """Return the vectors of a text."""
        own = slice(self._ends[index], self._ends[index + 1])
        return Represented(self.wholes[index], self._words[own], self._read[own])

    def __len__(self) -> int:
        return len(self._ends) - 1


def represent_in_folder(engine: Engine, examples: Sequence[Example], folder: Path) -> RepresentedFile:
    """Compute vectors as `represent` does, and keep them in files; a few thousand texts are in memory at once."""
    counts: list[int] = []
    width = 0
    with (
        (folder / "wholes").open("wb") as wholes,
        (folder / "words").open("wb") as words,
        (folder / "read").open("wb") as read,
    ):
        for each in _represent_all(engine, examples):
            each.whole.astype(np.float32).tofile(wholes)
            each.words.astype(np.float32).tofile(words)
            each.read.astype(np.bool_).tofile(read)
            counts.append(len(each.words))
            width = len(each.whole)
    return RepresentedFile(folder, counts, width)


def _represent_all(engine: Engine, examples: Sequence[Example]) -> Iterator[Represented]:
    for start in range(0, len(examples), CHUNK):
        yield from represent(engine, examples[start : start + CHUNK])


def _map(path: Path, shape: tuple[int, ...], kind: type) -> np.ndarray:
    empty = path.stat().st_size == 0  # which cannot be mapped
    return np.zeros(shape, dtype=kind) if empty else np.memmap(path, dtype=kind, mode="r", shape=shape)
