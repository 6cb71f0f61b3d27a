"""A comparison from plan to tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rationalize.comparison._comparison_files import write_page, write_tables
from rationalize.comparison._cost import count_passes, estimate_seconds
from rationalize.comparison._efficiency import draw_curves
from rationalize.comparison._result_file import check_result, read_result
from rationalize.comparison._source_cache import forget_sources
from rationalize.comparison._workers import run_all
from rationalize.comparison.cells import Cell, list_cells, shorten
from rationalize.comparison.comparison_tables import Compared, compare_rows
from rationalize.comparison.plan import Plan, load_plan
from rationalize.comparison.run_cell import Checked, Places, check_cell, remove_cell, tidy_cell
from rationalize.errors import ConfigError, RationalizeError
from rationalize.files import JsonObject, sweep_abandoned, write_text
from rationalize.locks import hold_folder
from rationalize.work.opening import open_workplace
from rationalize.work.workplace import Workplace


def check_cells(plan: Plan, places: Places, *, redo: bool = False, on: str | None = None) -> list[Checked]:
    """Check every cell, its data and any existing result; report all problems at once."""
    found: list[Checked] = []
    problems: dict[str, list[str]] = {}
    fields: dict[str, None] = {}
    forget_sources()
    for cell in list_cells(plan):
        try:
            each = check_cell(plan, cell, on=on)
            if (path := places.result(cell)).is_file() and not redo:
                check_result(path, each.identity)
            found.append(each)
        except RationalizeError as error:
            problems.setdefault(str(error), []).append(cell.key)
            fields |= dict.fromkeys(error.fields)
    if problems:
        lines = [f"{shorten(keys, 2)}: {problem}" for problem, keys in problems.items()]
        raise ConfigError("\n".join(["nothing was trained.", *lines]), field=tuple(fields))
    return found


def run_cells(
    plan: Plan,
    cells: Sequence[Checked],
    places: Places,
    *,
    workplace: Workplace,
    redo: bool = False,
    quiet: bool = False,
) -> dict[str, str]:
    """Run the unfinished cells; return what went wrong, by key.

    With `redo`, also run again cells whose result comes from other settings or data.
    """
    with hold_folder(places.runs, field="out"):
        for folder in (places.runs / "clocks", places.results, *(places.shown(each.cell) for each in cells)):
            sweep_abandoned(folder)
        todo = []
        for each in cells:
            if redo and not _is_current(each, places):
                remove_cell(each.cell, places)
            tidy_cell(each.cell, places)
            if not places.result(each.cell).is_file():
                todo.append(each)
        return run_all(plan, todo, places, passes=count_passes(cells), workplace=workplace, quiet=quiet)


def _is_current(each: Checked, places: Places) -> bool:
    path = places.result(each.cell)
    try:
        if path.is_file():
            check_result(path, each.identity)
    except RationalizeError:
        return False
    return True


@dataclass(frozen=True)
class CellCost:
    """The cost of a cell, past or expected.

    Attributes:
        key: The cell's key.
        finished: Whether it has a result.
        examples: Number of training examples.
        gold: Number of them with a gold rationale.
        without: Settings that its method lacks.
        passes: Texts read by an encoder; None: finished.
        seconds: Time it took, or roughly will take.
    """

    key: str
    finished: bool
    examples: int
    gold: int
    without: tuple[str, ...]
    passes: int | None
    seconds: float

    def to_dict(self) -> JsonObject:
        """Return plain values, ready for JSON."""
        row = asdict(self) | {"without": list(self.without)}
        return {name: value for name, value in row.items() if value is not None}


def describe_cells(cells: Sequence[Checked], places: Places) -> list[CellCost]:
    """Describe the plan, one row per cell."""
    finished = [each for each in cells if places.result(each.cell).is_file()]
    counted = count_passes([each for each in cells if each not in finished])
    return [
        CellCost(
            key=each.cell.key,
            finished=each in finished,
            examples=each.n_train,
            gold=each.n_gold,
            without=each.cell.skipped,
            passes=None if each in finished else round(counted[each.cell.key]),
            seconds=read_result(places.result(each.cell)).seconds.total
            if each in finished
            else round(estimate_seconds(each, counted[each.cell.key])),
        )
        for each in cells
    ]


def write_comparison(
    plan: Plan, places: Places, out: Path, command: str
) -> tuple[list[Compared], list[Cell]]:
    """Write tables, curves and the report of all finished cells; return the tables and the unfinished cells."""
    cells = list_cells(plan)
    missing = [cell for cell in cells if not places.result(cell).is_file()]
    written = [read_result(places.result(cell)) for cell in cells if cell not in missing]
    found = compare_rows(written, plan.baseline or plan.entries[0].name)
    if found:
        for folder in (out, out / "curves"):
            sweep_abandoned(folder)
        drawn = draw_curves(written)
        write_tables(out, found)
        for curve in drawn:
            write_text(out / "curves" / f"{curve.name}.svg", curve.to_svg())
        write_page(out / "report.html", plan, written, found, drawn, places.runs, command)
    return found, missing


@dataclass(frozen=True)
class Comparison:
    """The outcome of a comparison.

    Attributes:
        tables: Tables of every data set and split.
        missing: Keys of unfinished cells.
        failed: What went wrong, by cell key.
    """

    tables: tuple[Compared, ...]
    missing: tuple[str, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)


def compare(
    plan: str | Path | Mapping[str, Any] | Plan,
    *,
    out: str | Path = "comparison",
    results: str | Path | None = None,
    jobs: int | None = None,
    on: str | None = None,
    redo: bool = False,
    keep_models: bool = False,
    tables_only: bool = False,
    quiet: bool = False,
    command: str = "rationalize.compare",
) -> Comparison:
    """Train and score every method on every data set and compare them. A second start continues the first.

    Args:
        plan: A YAML file, its content by name, or a `Plan`.
        out: Where runs, tables and the report go.
        results: Where the cells' result files go; None: OUT/cells.
        jobs: Number of training processes; None: one, this one.
        on: A Ray cluster instead: `ray`, or `ray://HOST:PORT`. Cells ask it for the plan's `resources`.
        redo: Run cells again whose result comes from other settings or data.
        keep_models: Keep the models of finished cells.
        tables_only: Only make tables of what is finished.
        quiet: Show no progress.
        command: The command shown in the report.
    """
    chosen = plan if isinstance(plan, Plan) else _read_plan(plan)
    places = Places(Path(out) / "runs", Path(results or Path(out) / "cells"), keep_models)
    failed: dict[str, str] = {}
    if not tables_only:
        with open_workplace(on, jobs, chosen.resources, places.runs) as workplace:
            cells = check_cells(chosen, places, redo=redo, on=on)
            failed = run_cells(chosen, cells, places, workplace=workplace, redo=redo, quiet=quiet)
    tables, missing = write_comparison(chosen, places, Path(out), command)
    return Comparison(tuple(tables), tuple(cell.key for cell in missing), failed)


def _read_plan(plan: str | Path | Mapping[str, Any]) -> Plan:
    return load_plan(None, plan) if isinstance(plan, Mapping) else load_plan(Path(plan), {})
