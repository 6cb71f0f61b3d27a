"""Make the tables of a comparison from result files alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rationalize.comparison._cell_result import CellResult
from rationalize.comparison._paper import COPIED, COPIED_NOTE, NOTE, find_reported
from rationalize.comparison._summary import (
    CellRows,
    PairedTest,
    RowSummary,
    compare_with_baseline,
    find_shared_splits,
    group_rows,
    summarize_row,
)
from rationalize.files import JsonObject
from rationalize.reporting.result_table import METRICS, metric_table
from rationalize.reporting.table import Column, Table, TableRow

TESTS_NOTE = (
    "Points of difference, paired. Over examples: one pair per example and seed, p by sign-flip permutation. Over "
    "seeds: one pair per seed, p by t test. Intervals and exact permutations over seeds are in the JSON file. Not "
    "corrected for the number of tests."
)


@dataclass(frozen=True)
class Compared:
    """One data set and split: its numbers and its tables."""

    data: str
    split: str
    means: Mapping[str, RowSummary]
    tests: Mapping[str, Sequence[PairedTest]]
    tables: tuple[Table, ...]

    def to_dict(self) -> JsonObject:
        """Return means and tests as plain values, ready for JSON."""
        rows = {name: row.to_dict() for name, row in self.means.items()}
        tests = {name: [test.to_dict() for test in each] for name, each in self.tests.items()}
        return {"data": self.data, "split": self.split, "rows": rows, "tests": tests}


def compare_rows(cells: Sequence[CellResult], baseline: str) -> list[Compared]:
    """Make the tables of all data sets and splits, with tests of every row against the baseline."""
    found: list[Compared] = []
    for data, rows in group_rows(cells).items():
        bases = {
            name: base for name in rows if (base := _find_base(rows, name, baseline)) not in (None, name)
        }
        for split in find_shared_splits(rows):
            means = {name: summarize_row(each, split) for name, each in rows.items()}
            tests = {
                name: compare_with_baseline(rows[name], rows[base], split) for name, base in bases.items()
            }
            tables = [_make_table(data, split, rows, means, explained=not found)]
            tables += [_make_tests_table(data, split, bases, tests)] if any(tests.values()) else []
            found.append(Compared(data, split, means, tests, tuple(tables)))
    return found


def _find_base(rows: CellRows, name: str, baseline: str) -> str | None:
    """Find the baseline's row with the same gold share, or its first row; None without a baseline."""
    own = [row for row, (first, *_) in rows.items() if first.cell.name == baseline]
    about = rows[name][0].cell
    alike = [row for row in own if rows[row][0].cell.gold_share == about.gold_share]
    return next(iter([*(alike if about.supervision == "part" else []), *own]), None)


def _make_table(
    data: str, split: str, rows: CellRows, means: Mapping[str, RowSummary], *, explained: bool
) -> Table:
    table = metric_table(means, title=f"{data}, {split}", explained=explained)
    ours, trivial = table.rows[: len(means)], table.rows[len(means) :]
    columns = (*table.columns, Column("all", "count", group="Runs"), Column("warned", "count", group="Runs"))
    full = [
        TableRow((*row.values, mean.runs, mean.warnings))
        for row, mean in zip(ours, means.values(), strict=True)
    ]
    full += [TableRow((*row.values, None, None), apart=True) for row in trivial]
    beside = _make_reported_rows(data, split, rows, columns)
    copied = any(each[0].cell.method in COPIED for each in rows.values())
    notes = [NOTE, *([COPIED_NOTE] if copied else [])] if beside else []
    return replace(table, columns=columns, rows=(*full, *beside), notes=(*table.notes, *notes))


def _make_reported_rows(data: str, split: str, rows: CellRows, columns: Sequence[Column]) -> list[TableRow]:
    found = []
    for name, (first, *_) in rows.items():
        figures = find_reported(first.cell, data, split)
        if figures:
            by_title = {METRICS[metric].full_title: figure for metric, figure in figures.items()}
            values = [by_title.get(column.full_title) for column in columns[1:]]
            found.append(TableRow((f"{name}, reported", *values), apart=True))
    return found


def _make_tests_table(
    data: str, split: str, bases: Mapping[str, str], tests: Mapping[str, Sequence[PairedTest]]
) -> Table:
    several = len(set(bases.values())) > 1
    done = {(test.over, test.metric): test for each in tests.values() for test in each}
    columns = [Column(_shorten(metric), "text", group=f"over {over}") for over, metric in done]
    rows = []
    for name, each in tests.items():
        by_kind = {(test.over, test.metric): _format_test(test) for test in each}
        shown = f"{name} − {bases[name]}" if several else name
        rows.append(TableRow((shown, *(by_kind.get(kind) for kind in done))))
    sizes = sorted({f"{test.n} {test.over}" for each in tests.values() for test in each})
    note = f"{TESTS_NOTE} Pairs: {', '.join(sizes)}."
    columns.insert(0, Column("", "text"))
    from_what = "" if several else f" from {next(iter(bases.values()))}"
    return Table(f"{data}, {split}: difference{from_what} (p)", tuple(columns), tuple(rows), (note,))


def _shorten(metric: str) -> str:
    return metric.replace("_weighted", "").replace("_eraser", "").replace("_", " ")


def _format_test(test: PairedTest) -> str:
    """Format the difference in points, and p: by permutation over examples, by t test over seeds."""
    p = test.p if test.over == "examples" else test.p_t
    written = "–" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"
    return f"{100 * test.difference:+.1f} ({written})"
