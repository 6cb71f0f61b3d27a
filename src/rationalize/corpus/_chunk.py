"""A chunk of examples: what one process works on at a time, and what becomes one part of the output."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from rationalize.data.jsonl import hash_texts
from rationalize.types import Example


@dataclass(frozen=True, slots=True)
class PartRecord:
    """A part that is finished: its number, its rows, and SHA-256 of what was explained."""

    part: int
    rows: int
    sha256: str


@dataclass(frozen=True)
class Chunk:
    """Examples that stand one after the other in the input.

    Attributes:
        number: Its place among the chunks, from 1 on.
        first: Place of its first example in the input, from 1 on.
        examples: The examples.
    """

    number: int
    first: int
    examples: tuple[Example, ...]

    @cached_property
    def digest(self) -> str:
        """SHA-256 of what is explained, to see on resuming that it is still the same."""
        return hash_texts(self.examples, errors="surrogatepass")

    def to_record(self) -> PartRecord:
        """Return what is written down when its part is finished."""
        return PartRecord(self.number, len(self.examples), self.digest)

    def __str__(self) -> str:
        last = self.first + len(self.examples) - 1
        return f"part {self.number} (rows {self.first:,} to {last:,}, from {self.examples[0].id!r} on)"


Work = Callable[[Chunk], None]
"""Does a chunk and writes its part. It is sent to other processes, so it is a function or object of a module."""
