"""Rows that could not be read: beside the output as JSON Lines, with where they are and what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from rationalize.data.findings import Problem
from rationalize.data.remote_folder import RemoteFolder, find_remote, to_local
from rationalize.errors import DataError
from rationalize.files import atomic_file, json_line


class BadRowFile:
    """Collects bad rows; `finish` writes them. Reading the same input again gives the same file."""

    def __init__(self, out: str | Path) -> None:
        place = to_local(out)
        self._name = f"{place.stem if place.suffix else place.name}.errors.jsonl"
        store = find_remote(out)
        self._store = RemoteFolder(store.address.rpartition("/")[0]) if store else None
        self.path = f"{self._store.address}/{self._name}" if self._store else str(place.with_name(self._name))
        self._lines: dict[str, list[Problem]] = {}

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self._lines)

    def add(self, problem: Problem) -> None:
        """Note what is wrong with a row; several problems of one row count once."""
        self._lines.setdefault(problem.place, []).append(problem)

    def require_good(self, read: int) -> None:
        """Refuse input of which no row could be read.

        Raises:
            DataError: With the first problem.
        """
        if self._lines and not read:
            first = next(iter(self._lines.values()))[0]
            raise DataError(
                f"no row could be read, all {self.rows} are wrong. The first: {first}", field=first.setting
            )

    def finish(self) -> None:
        """Write the file; on this machine, remove an old one if no row is bad."""
        if self._store is not None:
            if self._lines:
                self._store.write(self._name, "".join(self._list_rows()).encode("utf-8", "surrogatepass"))
            return
        if not self._lines:
            Path(self.path).unlink(missing_ok=True)
            return
        with atomic_file(Path(self.path)) as file:
            file.writelines(self._list_rows())

    def _list_rows(self) -> Iterator[str]:
        for place, problems in self._lines.items():
            rows = [
                {name: value for name, value in asdict(each).items() if name not in ("place", "severity")}
                for each in problems
            ]
            yield json_line({"place": place, "problems": rows})
