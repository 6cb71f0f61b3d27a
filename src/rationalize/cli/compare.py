"""`rationalize compare`: methods × data sets × seeds, trained resumably, one table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rationalize.cli import run_options as options
from rationalize.cli.flags import DeviceSetting, On, Quiet, collect_settings, make_json_flag
from rationalize.cli.show import get_command_line, parse_pairs, tell_how_to_continue
from rationalize.reporting.terminal import echo, echo_json, make_console

if TYPE_CHECKING:
    from rationalize.comparison.comparison import CellCost
    from rationalize.comparison.comparison_tables import Compared


def compare(
    plan: options.PlanFile = None,
    method: options.Methods = None,
    data: options.DataSets = None,
    seed: options.Seeds = None,
    gold_share: options.GoldShares = None,
    augment: options.Augmentations = None,
    augment_share: options.AugmentShares = None,
    preset: options.CellPreset = None,
    device: DeviceSetting = None,
    override: options.CellOverride = None,
    baseline: options.Baseline = None,
    out: options.ComparisonOut = Path("comparison"),
    results: options.CellsOut = None,
    jobs: options.Jobs = None,
    on: On = None,
    redo: options.Redo = False,
    keep_models: options.KeepModels = False,
    tables_only: options.TablesOnly = False,
    dry_run: options.DryRun = False,
    as_json: Annotated[bool, make_json_flag("Print the tables, or the plan, as JSON.")] = False,
    quiet: Quiet = False,
) -> None:
    """Train and score every method on every data set and compare them.

    Every cell is a run folder under OUT/runs and a result file; a second start continues the first.

    Example: rationalize compare --method un_rat --method ssr_unif --data toy=planted --seed 0 --seed 1 --preset planted
    """
    from rationalize.comparison.cells import shorten
    from rationalize.comparison.comparison import check_cells, describe_cells
    from rationalize.comparison.comparison import compare as run
    from rationalize.comparison.plan import load_plan
    from rationalize.comparison.run_cell import Places
    from rationalize.work.ray_cluster import parse_place

    changes = {
        "methods": method,
        "data": _parse_data(data),
        "seeds": seed,
        "gold_shares": gold_share,
        "augment": augment,
        "augment_shares": augment_share,
        "preset": preset,
        "set": collect_settings({"device": device}, override),
        "baseline": baseline,
    }
    chosen = load_plan(plan, changes)
    if dry_run:
        if on is not None:
            parse_place(on)
        places = Places(out / "runs", results or out / "cells", keep_models)
        rows = describe_cells(check_cells(chosen, places, redo=redo, on=on), places)
        echo_json([row.to_dict() for row in rows]) if as_json else _show_plan(rows)
        return
    with tell_how_to_continue(get_command_line(), (out / "runs").is_dir):
        done = run(
            chosen,
            out=out,
            results=results,
            jobs=jobs,
            on=on,
            redo=redo,
            keep_models=keep_models,
            tables_only=tables_only,
            quiet=quiet,
            command=get_command_line(),
        )
    echo_json([each.to_dict() for each in done.tables]) if as_json else _show(done.tables, out)
    if done.missing:
        echo(f"not finished: {shorten(done.missing)}", err=True)
    for key, problem in done.failed.items():
        echo(f"failed: {key}: {problem}", err=True)
    if done.failed or not done.tables:
        raise typer.Exit(2)


def _show_plan(rows: list[CellCost]) -> None:
    from rationalize.reporting.wording import format_duration

    for row in rows:
        state = f"finished in {format_duration(row.seconds)}"
        if row.passes is not None:
            state = f"to do, {row.passes:,} passes, roughly {format_duration(row.seconds)}"
        gold = f", {row.gold} with gold rationales" if row.gold else ""
        without = f"; has no {', '.join(row.without)}" if row.without else ""
        echo(f"{row.key}: {state}; {row.examples} examples{gold}{without}")
    left = [row for row in rows if not row.finished]
    total = format_duration(sum(row.seconds for row in left))
    echo(f"{len(left)} of {len(rows)} cells to do, roughly {total} of one process.")


def _show(found: Sequence[Compared], out: Path) -> None:
    console = make_console()
    for each in found:
        for table in each.tables:
            console.print(table)
    if found:
        echo(f"Tables: {out / 'tables.md'}, .tex, .csv, .json\nReport: {out / 'report.html'}")


def _parse_data(named: list[str] | None) -> dict[str, str | None]:
    """Return paths by name; None for a name alone."""
    alone = [text for text in named or [] if text and "=" not in text]
    return dict.fromkeys(alone) | parse_pairs((text for text in named or [] if text not in alone), "--data")
