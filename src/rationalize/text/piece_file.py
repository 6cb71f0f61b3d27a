"""The pieces of many texts in a file, made once for a tokenizer, a word rule, the texts."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from rationalize.files import atomic_dir
from rationalize.lazy_sequence import LazySequence
from rationalize.text._piece_table import PieceTable
from rationalize.text.windows import Encoded, TextEncoder
from rationalize.types import Example

CHUNK = 2_000
"""Texts that are cut at once."""
MOST_SPECIAL = 8
"""More special tokens than any tokenizer puts around a text."""
_COLUMNS = tuple(field.name for field in fields(PieceTable))
_ROW = 4 * len(_COLUMNS)  # bytes
_PIECES, _ENDS = "pieces.i32", "ends.npy"


@dataclass(frozen=True)
class PieceFile:
    """Tables of the pieces of texts, in their order; for one thread.

    The file is read, not mapped: what was read of it is the system's to drop, and no memory of this process.

    Attributes:
        file: The rows of all tables, one after the other.
        ends: For each text, where its pieces end, after a 0.
    """

    file: IO[bytes]
    ends: NDArray[np.int64]

    def load(self, index: int) -> PieceTable:
        """Return the table of a text."""
        start, end = (int(place) * _ROW for place in self.ends[index : index + 2])
        self.file.seek(start)
        values = np.frombuffer(self.file.read(end - start), dtype=np.int32).reshape(-1, len(_COLUMNS))
        return PieceTable(*values.astype(np.int64).T.copy())

    def count(self) -> NDArray[np.int64]:
        """Return the number of pieces of every text."""
        return np.diff(self.ends)


@dataclass(frozen=True)
class MappedTexts(LazySequence[Encoded]):
    """Examples as encoder inputs, made from pieces on disk whenever one is asked for; words are left out.

    Attributes:
        text: Cuts texts into windows.
        examples: The examples.
        pieces: The pieces of their texts.
        truncate: Whether only the first window is kept.
    """

    text: TextEncoder
    examples: Sequence[Example]
    pieces: PieceFile
    truncate: bool

    def make(self, index: int) -> Encoded:
        """Cut a text into windows."""
        return self.text.encode_table(self.examples[index], self.pieces.load(index), truncate=self.truncate)

    def __len__(self) -> int:
        return len(self.examples)

    def find_long(self) -> list[int]:
        """Find the texts that may not fit into one window, of which a query takes half at most."""
        found: list[int] = np.flatnonzero(
            self.pieces.count() > self.text.max_tokens // 2 - MOST_SPECIAL
        ).tolist()
        return found


def keep_pieces(folder: Path, text: TextEncoder, examples: Sequence[Example]) -> PieceFile:
    """Open the file of these texts; make it first if it is missing.

    Args:
        folder: Where such files are kept, each under a digest of what it was made from.
        text: Cuts the texts.
        examples: The texts; a few thousand of them are cut at once.
    """
    digest = hashlib.sha256(text.identify().encode())
    for example in examples:
        digest.update(hashlib.blake2b(example.text.encode("utf-8", "surrogatepass"), digest_size=16).digest())
    place = folder / f"pieces-{digest.hexdigest()[:32]}"
    if not _is_whole(place):
        with atomic_dir(place) as part:
            with (part / _PIECES).open("wb") as file:
                ends = _write(file, text, examples)
            np.save(part / _ENDS, ends)
    ends = np.load(place / _ENDS, allow_pickle=False)
    return PieceFile((place / _PIECES).open("rb"), ends)


def _is_whole(place: Path) -> bool:
    """Return whether a file is there, of the size that it had."""
    if not place.is_dir():
        return False
    try:
        ends = np.load(place / _ENDS, allow_pickle=False)
        return (place / _PIECES).stat().st_size == int(ends[-1]) * _ROW
    except (OSError, ValueError):
        return False


def _write(file: IO[bytes], text: TextEncoder, examples: Sequence[Example]) -> NDArray[np.int64]:
    counts = [0]
    for start in range(0, len(examples), CHUNK):
        for table in text.tabulate([each.text for each in examples[start : start + CHUNK]]):
            columns = [getattr(table, name) for name in _COLUMNS]
            file.write(np.stack(columns, axis=1).astype(np.int32).tobytes())
            counts.append(len(table))
    return np.cumsum(counts)
