"""Examples that are read again and again: in memory, or in a temporary file as soon as they are many."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from tempfile import TemporaryFile
from typing import IO

from rationalize.data.example_lines import from_line, to_line
from rationalize.types import Example

HELD_ROWS = 100_000
"""Examples of a split that are kept in memory."""


class SpillingRows(Collection[Example]):
    """Examples, each loop over which gives them in the same order; one loop at a time."""

    def __init__(self, examples: Iterable[Example]) -> None:
        self._held: list[Example] = []
        self._rows = 0
        self._file: IO[bytes] | None = None
        for example in examples:
            self._rows += 1
            if self._file is None:
                self._held.append(example)
                if self._rows > HELD_ROWS:
                    self._file = TemporaryFile(prefix="rationalize-")  # noqa: SIM115 - closed with this object
                    self._file.writelines(map(to_line, self._held))
                    self._held.clear()
            else:
                self._file.write(to_line(example))

    @property
    def is_spilled(self) -> bool:
        """Whether they are in a file."""
        return self._file is not None

    def __iter__(self) -> Iterator[Example]:
        if self._file is None:
            yield from self._held
            return
        self._file.seek(0)
        yield from map(from_line, self._file)

    def __len__(self) -> int:
        return self._rows

    def __contains__(self, other: object) -> bool:
        return any(example == other for example in self)
