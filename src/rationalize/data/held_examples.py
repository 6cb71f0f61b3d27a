"""Examples that are read again and again: in memory, or in a temporary file if they are many; and views of them."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from tempfile import TemporaryFile
from typing import IO

from rationalize.data.example_lines import from_line, to_line
from rationalize.lazy_sequence import LazySequence
from rationalize.types import Example

AT_ONCE = 1_000
"""Lines that a loop reads at once."""


class ExampleFile(LazySequence[Example]):
    """Examples in a temporary file, each made anew whenever it is asked for; for one thread.

    The file is read, not mapped: what was read of it is the system's to drop, and no memory of this process.
    """

    def __init__(self, examples: Iterable[Example]) -> None:
        self._file: IO[bytes] = TemporaryFile(prefix="rationalize-")  # noqa: SIM115 - closed with this object
        self._ends = array("q", (0,))
        for example in examples:
            line = to_line(example)
            self._file.write(line)
            self._ends.append(self._ends[-1] + len(line))
        self._file.flush()

    def make(self, index: int) -> Example:
        """Read the example at an index."""
        return from_line(self._read(index, index + 1))

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __iter__(self) -> Iterator[Example]:
        for start in range(0, len(self), AT_ONCE):
            lines = self._read(start, min(start + AT_ONCE, len(self)))
            yield from map(from_line, lines.splitlines())

    def _read(self, start: int, stop: int) -> bytes:
        self._file.seek(self._ends[start])
        return self._file.read(self._ends[stop] - self._ends[start])


class SelectedExamples(LazySequence[Example]):
    """Some examples of a file, by their places."""

    def __init__(self, examples: Sequence[Example], places: Iterable[int]) -> None:
        self._examples, self._places = examples, array("q", places)

    def make(self, index: int) -> Example:
        """Read the example at an index."""
        return self._examples[self._places[index]]

    def __len__(self) -> int:
        return len(self._places)


class ChangedExamples(LazySequence[Example]):
    """Examples of a file, each changed whenever it is asked for."""

    def __init__(self, examples: Sequence[Example], change: Callable[[Example], Example]) -> None:
        self._examples, self._change = examples, change

    def make(self, index: int) -> Example:
        """Read the example at an index, and change it."""
        return self._change(self._examples[index])

    def __len__(self) -> int:
        return len(self._examples)

    def __iter__(self) -> Iterator[Example]:
        return map(self._change, self._examples)


def hold_examples(examples: Iterable[Example], map_from: int | None) -> Sequence[Example]:
    """Keep examples: a tuple, or, of at least `map_from`, a file that they are read from again."""
    if map_from is None:
        return tuple(examples)
    source = iter(examples)
    first = tuple(islice(source, map_from))
    return first if len(first) < map_from else ExampleFile(chain(first, source))


def is_on_disk(examples: object) -> bool:
    """Return whether examples are read from a file whenever they are asked for."""
    return isinstance(examples, ExampleFile | SelectedExamples | ChangedExamples)


def select_examples(examples: Sequence[Example], places: Iterable[int]) -> Sequence[Example]:
    """Return the examples at these places, in memory or on disk as they are."""
    if is_on_disk(examples):
        return SelectedExamples(examples, places)
    return tuple(examples[place] for place in places)


def change_examples(examples: Sequence[Example], change: Callable[[Example], Example]) -> Sequence[Example]:
    """Return the examples changed, in memory or on disk as they are; a change on disk is made at every reading."""
    return ChangedExamples(examples, change) if is_on_disk(examples) else tuple(map(change, examples))
