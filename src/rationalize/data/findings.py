"""Problems found while reading a data set, with their place, and how often each kind occurred.

The readers report here and go on; whether the first error stops everything (`load`) or all are gathered
(`data check`) is decided in this one place, so that both always agree on what can be read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rationalize.data._label_spellings import LabelSpellings
from rationalize.errors import DataError
from rationalize.files import JsonObject

Severity = Literal["error", "warning"]
LISTED = 50


def shorten(value: object) -> str:
    """Return a value as shown in a message: quoted, control characters escaped, cut to one short line."""
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


def show_place(file: str, number: int, *, is_item: bool) -> str:
    """Return the place of a row: the line of a file, or the item (from 0) of a source without lines."""
    return f"{file}[{number}]" if is_item else f"{file}:{number}"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, or looks wrong, in a data set.

    Attributes:
        severity: An error makes a row or the whole set unusable; a warning does not.
        kind: What is wrong, in the same words every time.
        place: `file:line`, or the file if it is not about a line.
        field: The field, such as `evidences[0][2].end_token`; may be empty.
        seen: What was found there.
        expected: What should be there.
        setting: The setting of a run that fixes it, if there is one.
    """

    severity: Severity
    kind: str
    place: str
    field: str
    seen: str
    expected: str
    setting: str = ""

    def __str__(self) -> str:
        parts = [self.place, self.field, self.kind] if self.field else [self.place, self.kind]
        return f"{': '.join(parts)}: saw {self.seen}, expected {self.expected}."


class Findings:
    """Collects problems: if strict, raises at the first error, else counts them all.

    `root` is the path of the data set, or a name for data in memory.
    """

    def __init__(self, root: Path | str, *, strict: bool) -> None:
        self.root = root
        self.strict = strict
        self.labels = LabelSpellings()
        self.notes: Counter[str] = Counter()
        self.counts: Counter[tuple[Severity, str]] = Counter()
        self._kept: list[tuple[int, Problem]] = []

    def add(self, problem: Problem) -> None:
        """Count a problem, keeping enough of each kind to show."""
        if self.strict and problem.severity == "error":
            on_disk = isinstance(self.root, Path)
            more = f"\nRun `rationalize data check {self.root}` to see every problem." if on_disk else ""
            raise DataError(f"{problem}{more}", field=problem.setting or ())
        kind = (problem.severity, problem.kind)
        if self.counts[kind] < LISTED:
            self._kept.append((self.counts[kind], problem))
        self.counts[kind] += 1

    def error(
        self, kind: str, place: str, *, seen: str, expected: str, field: str = "", setting: str = ""
    ) -> None:
        """Report something that makes a row, a file or the set unusable, and perhaps which setting mends it."""
        self.add(Problem("error", kind, place, field, seen, expected, setting))

    def row_error(self, row: FileRow, problem: Problem) -> None:
        """Report that a row cannot be kept."""
        self.add(problem)

    def warning(self, kind: str, place: str, *, seen: str, expected: str, field: str = "") -> None:
        """Report something that can be read but deserves a look."""
        self.add(Problem("warning", kind, place, field, seen, expected))

    def warning_of_many(
        self, kind: str, place: str, *, times: int, seen: str, expected: str, field: str = ""
    ) -> None:
        """Report many cases of one kind in one line, which shows some of them."""
        self.add(Problem("warning", kind, place, field, seen, expected))
        self.counts["warning", kind] += times - 1

    def note(self, kind: str, times: int = 1) -> None:
        """Count an oddity that is no problem."""
        if times:
            self.notes[kind] += times

    def total(self, severity: Severity) -> int:
        """Return the number of problems of a severity, listed or not."""
        return sum(count for (its, _), count in self.counts.items() if its == severity)

    def list_problems(self) -> tuple[Problem, ...]:
        """At most 50 problems: errors first, and some of every kind before many of one."""
        ranked = sorted(self._kept, key=lambda entry: (entry[1].severity, entry[0]))
        chosen = [problem for _, problem in ranked[:LISTED]]
        kinds = sorted(self.counts)
        return tuple(sorted(chosen, key=lambda problem: kinds.index((problem.severity, problem.kind))))

    def oddities(self) -> dict[str, int]:
        """Warnings and notes by kind, for readers that only want the counts."""
        warned = {kind: count for (severity, kind), count in self.counts.items() if severity == "warning"}
        return dict(sorted((warned | dict(self.notes)).items()))


class BadRows(Findings):
    """Passes on rows that cannot be kept instead of stopping there; what is wrong with a whole file still stops."""

    def __init__(self, root: Path | str, on_row: Callable[[Problem], None]) -> None:
        super().__init__(root, strict=True)
        self._on_row = on_row

    def row_error(self, row: FileRow, problem: Problem) -> None:
        """Pass on what is wrong with a row."""
        self._on_row(problem)


@dataclass(slots=True)
class FileRow:
    """One row of a file while it is read.

    Attributes:
        file: The file.
        line: The number of its line, or of the item.
        values: What it holds.
        findings: Where its problems are reported.
        fine: True until an error is reported.
        is_item: Whether the number is that of an item, from 0 on, in a source without lines.
    """

    file: str
    line: int
    values: JsonObject
    findings: Findings
    fine: bool = True
    is_item: bool = False

    @property
    def place(self) -> str:
        """Where it is: `file:line`, or `source[number]`."""
        return show_place(self.file, self.line, is_item=self.is_item)

    def error(self, kind: str, field: str, *, seen: str, expected: str, setting: str = "") -> None:
        """Report an error: the row cannot be kept."""
        self.fine = False
        self.findings.row_error(self, Problem("error", kind, self.place, field, seen, expected, setting))

    def warning(self, kind: str, field: str, *, seen: str, expected: str) -> None:
        """Report a warning: the row is kept."""
        self.findings.warning(kind, self.place, field=field, seen=seen, expected=expected)
