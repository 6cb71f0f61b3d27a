"""Examples that are known by their ids alone need one each."""

from __future__ import annotations

from rationalize.errors import DataError


class OwnIds:
    """The ids seen so far, none of them twice."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def add(self, name: str) -> None:
        """Add the id of an example, or refuse it: `DataError`."""
        if name in self._seen:
            raise DataError(f"example {name!r}: this id occurs twice. Give every example an id of its own.")
        self._seen.add(name)
