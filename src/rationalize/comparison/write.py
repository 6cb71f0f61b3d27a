"""A comparison on disk: Markdown, LaTeX, CSV, JSON and one HTML page."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rationalize.comparison.comparison_tables import Compared
from rationalize.files import write_json, write_text
from rationalize.reporting.latex import to_latex

FORMATS = ("md", "tex", "csv", "json")


def write_tables(out: Path, found: Sequence[Compared]) -> None:
    """Write tables.md, .tex, .csv and .json."""
    tables = [table for each in found for table in each.tables]
    write_text(out / "tables.md", "\n".join(table.to_markdown() for table in tables))
    write_text(out / "tables.tex", "\n".join(to_latex(table) for table in tables))
    write_text(out / "tables.csv", _csv(found))
    write_json(out / "tables.json", to_plain(found))


def to_plain(found: Sequence[Compared]) -> list[dict[str, Any]]:
    """Means and tests, ready for JSON."""
    return [
        {"data": each.data, "split": each.split, "rows": dict(each.means), "tests": dict(each.tests)}
        for each in found
    ]


def _csv(found: Sequence[Compared]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["data", "split", "row", "metric", "mean", "sd", "n"])
    for each in found:
        for name, row in each.means.items():
            for metric, value in row["metrics"].items():
                if value is not None:
                    writer.writerow([each.data, each.split, name, metric, *value.values()])
    return stream.getvalue()
