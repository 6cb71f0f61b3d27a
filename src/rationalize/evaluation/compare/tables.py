"""The tables of a comparison, made from result files alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rationalize.evaluation.compare.paper import COPIED, COPIED_NOTE, NOTE, reported
from rationalize.evaluation.compare.summary import Rows, Written, against, rows_of, shared_splits, summarized
from rationalize.reporting.numbers import as_value
from rationalize.reporting.tables import Column, Row, Table, metric_table

TESTS_NOTE = (
    "Paired with the baseline. Over examples: one pair per example and seed, sign-flip permutation and bootstrap "
    "interval. Over seeds: one pair per seed, permutation (exact; with n seeds never below 2/2ⁿ) and t test. Not "
    "corrected for the number of tests."
)


@dataclass(frozen=True)
class Compared:
    """One data set and split: its numbers and its tables."""

    data: str
    split: str
    means: Mapping[str, Mapping[str, Any]]
    tests: Mapping[str, list[dict[str, Any]]]
    tables: tuple[Table, ...]


def compared(cells: Sequence[Written], baseline: str) -> list[Compared]:
    """The tables of all data sets and splits; others are tested against the baseline's first row."""
    found = []
    for data, rows in rows_of(cells).items():
        for split in shared_splits(rows):
            means = {name: summarized(each, split) for name, each in rows.items()}
            base = next((name for name, each in rows.items() if each[0]["cell"]["name"] == baseline), None)
            tests = {
                name: against(each, rows[base], split)
                for name, each in rows.items()
                if base is not None and name != base
            }
            tables = [_table(data, split, rows, means)]
            tables += [_tests_table(data, split, base, tests)] if base and any(tests.values()) else []
            found.append(Compared(data, split, means, tests, tuple(tables)))
    return found


def _table(data: str, split: str, rows: Rows, means: Mapping[str, Mapping[str, Any]]) -> Table:
    table = metric_table(means, title=f"{data}, {split}")
    ours, trivial = table.rows[: len(means)], table.rows[len(means) :]
    columns = (*table.columns, Column("runs", "count"), Column("with warnings", "count", group="Runs"))
    full = [
        Row((*row.values, mean["runs"], mean["warnings"]))
        for row, mean in zip(ours, means.values(), strict=True)
    ]
    full += [Row((*row.values, None, None), apart=True) for row in trivial]
    beside = _reported(data, rows, columns) if split == "test" else []
    notes = [NOTE] if beside else []
    notes += (
        [COPIED_NOTE] if beside and any(each[0]["cell"]["method"] in COPIED for each in rows.values()) else []
    )
    return replace(table, columns=columns, rows=(*full, *beside), notes=(*table.notes, *notes))


def _reported(data: str, rows: Rows, columns: Sequence[Column]) -> list[Row]:
    found = []
    for name, (first, *_) in rows.items():
        figures = reported(first["cell"], data)
        if figures:
            by_title = {"Task F1 label": figures.get("task"), "Token F1 micro-piece": figures.get("token_f1")}
            values = [as_value(by_title.get(column.full_title)) for column in columns[1:]]
            found.append(Row((f"{name}, reported", *values), apart=True))
    return found


def _tests_table(data: str, split: str, base: str, tests: Mapping[str, list[dict[str, Any]]]) -> Table:
    titles = ("", "metric", "over", "n", "difference", "95 % interval", "p", "p (t)")
    rows = [Row((name, *_test_cells(test))) for name, each in tests.items() for test in each]
    columns = tuple(Column(title, "text") for title in titles)
    return Table(f"{data}, {split}: difference from {base}", columns, tuple(rows), (TESTS_NOTE,))


def _test_cells(test: Mapping[str, Any]) -> list[str]:
    interval = f"{100 * test['low']:+.1f} to {100 * test['high']:+.1f}" if "low" in test else "–"
    p_t = test.get("p_t")
    shown = [test["metric"], test["over"], str(test["n"]), f"{100 * test['difference']:+.1f}", interval]
    return [*shown, _p(test["p"]), "–" if p_t is None else _p(p_t)]


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
