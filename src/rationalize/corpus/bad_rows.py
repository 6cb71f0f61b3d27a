"""Rows that could not be read: beside the output as JSON Lines, with where they are and what is wrong."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from rationalize.data.findings import Problem
from rationalize.errors import DataError
from rationalize.files import atomic_file, json_line


class BadRowFile:
    """Collects bad rows; `finish` writes them. Reading the same input again gives the same file."""

    def __init__(self, out: Path) -> None:
        self.path = out.with_name(f"{out.stem if out.suffix else out.name}.errors.jsonl")
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
        """Write the file; remove an old one if no row is bad."""
        if not self._lines:
            self.path.unlink(missing_ok=True)
            return
        with atomic_file(self.path) as file:
            for place, problems in self._lines.items():
                rows = [
                    {name: value for name, value in asdict(each).items() if name not in ("place", "severity")}
                    for each in problems
                ]
                file.write(json_line({"place": place, "problems": rows}))
