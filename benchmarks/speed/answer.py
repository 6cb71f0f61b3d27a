"""An answered question: a table of numbers with its notes, kept as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.speed.clock import Timing
from rationalize.files import write_json


@dataclass(frozen=True)
class Row:
    """One line of a table.

    Attributes:
        name: What was measured.
        numbers: By the names of the columns; a column without a number is left empty.
        timing: The seconds of every round behind them, if they come from rounds.
        extrapolated: Whether a small sample was measured and multiplied.
    """

    name: str
    numbers: dict[str, float]
    timing: Timing | None = None
    extrapolated: bool = False


@dataclass(frozen=True)
class Answer:
    """What was measured for one question.

    Attributes:
        question: Its id, which names its files.
        title: The heading on the page.
        columns: Titles of the columns by name, in order.
        rows: The lines.
        notes: What a reader has to know, in plain sentences.
        chart: The column that is drawn.
    """

    question: str
    title: str
    columns: dict[str, str]
    rows: tuple[Row, ...]
    notes: tuple[str, ...]
    chart: str

    def find(self, name: str) -> Row:
        """Return the line of that name."""
        return next(row for row in self.rows if row.name == name)


def write_answer(answer: Answer, folder: Path, facts: dict[str, str]) -> None:
    """Keep an answer, with the facts of the machine and the command."""
    write_json(folder / f"{answer.question}.json", {**asdict(answer), "facts": facts})


def read_answer(path: Path) -> tuple[Answer, dict[str, str]]:
    """Read an answer that was kept, and the facts of the run that gave it."""
    kept = json.loads(path.read_text(encoding="utf-8"))
    facts = kept.pop("facts")
    rows = tuple(
        Row(**{**row, "timing": row["timing"] and Timing(*map(tuple, row["timing"].values()))})
        for row in kept.pop("rows")
    )
    return Answer(**{**kept, "rows": rows, "notes": tuple(kept["notes"])}), facts
