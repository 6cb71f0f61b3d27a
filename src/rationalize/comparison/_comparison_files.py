"""Write a comparison to disk: Markdown, LaTeX, CSV, JSON and one HTML page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from rationalize.comparison._cell_result import CellResult
from rationalize.comparison._efficiency import Curve
from rationalize.comparison._result_file import read_shown
from rationalize.comparison._summary import CellRows, find_shared_splits, group_rows
from rationalize.comparison.comparison_tables import Compared
from rationalize.comparison.plan import Plan
from rationalize.evaluation.evaluation import Evaluation
from rationalize.files import csv_line, write_json, write_text
from rationalize.printable import guard_formula
from rationalize.reporting.report import ExampleView, Report, write_report
from rationalize.runs.presets import load_preset
from rationalize.training.loop import read_epochs


def write_tables(out: Path, found: Sequence[Compared]) -> None:
    """Write tables.md, .tex, .csv and .json."""
    tables = [table for each in found for table in each.tables]
    write_text(out / "tables.md", "\n".join(table.to_markdown() for table in tables))
    write_text(out / "tables.tex", "\n".join(table.to_latex() for table in tables))
    write_text(out / "tables.csv", _to_csv(found))
    write_json(out / "tables.json", [each.to_dict() for each in found])


def _to_csv(found: Sequence[Compared]) -> str:
    lines = [csv_line(["data", "split", "row", "metric", "mean", "sd", "n"])]
    for each in found:
        for name, row in each.means.items():
            for metric, value in row.metrics.items():
                if value is not None:
                    names = map(guard_formula, (each.data, each.split, name, metric))
                    lines.append(csv_line([*names, value.mean, value.sd, value.n]))
    return "".join(lines)


def write_page(
    path: Path,
    plan: Plan,
    cells: Sequence[CellResult],
    found: Sequence[Compared],
    curves: Sequence[Curve],
    runs: Path,
    command: str,
) -> None:
    """Write the page: tables, curves, health and confusion, training, the same documents explained by each row.

    For rows with several seeds, health, confusion, training and documents come from the first.
    """
    data = group_rows(cells)
    many = len(data) > 1
    firsts = {
        f"{name}: {row}" if many else row: of_row[0]
        for name, rows in data.items()
        for row, of_row in rows.items()
    }
    plan_text = yaml.safe_dump(plan.model_dump(mode="json", exclude_defaults=True), sort_keys=False)
    preset = yaml.safe_dump(load_preset(plan.preset).model_dump(mode="json"), sort_keys=False)
    report = Report(
        title=f"Comparison on {', '.join(data)}",
        summary=_summarize(cells, data),
        tables=[table for each in found for table in each.tables],
        charts=[curve.to_html() for curve in curves],
        results={name: _pick_split(each) for name, each in firsts.items()},
        curves={name: rows for name, each in firsts.items() if (rows := read_epochs(runs / each.cell.key))},
        examples=[view for rows in data.values() for view in _collect_views(rows, runs)],
        config=f"# The plan\n{plan_text}" + (f"\n# Preset {plan.preset}\n{preset}" if plan.preset else ""),
        commands=[command],
    )
    write_report(path, report)


def _summarize(cells: Sequence[CellResult], data: Mapping[str, CellRows]) -> str:
    hours = sum(each.seconds.total for each in cells) / 3600
    n_rows = max(len(rows) for rows in data.values())
    seeds = sorted({each.cell.seed for each in cells})
    return (
        f"{len(cells)} runs: up to {n_rows} rows on {len(data)} data set(s), seeds {', '.join(map(str, seeds))}, "
        f"{hours:.1f} hours of training and scoring in all. Epochs were chosen on dev; the tables show splits that "
        "no choice depended on."
    )


def _pick_split(cell: CellResult) -> dict[str, Evaluation]:
    """Return the test split, or the first scored one."""
    split = "test" if "test" in cell.results else next(iter(cell.results))
    return {split: cell.results[split]}


def _collect_views(rows: CellRows, runs: Path) -> list[ExampleView]:
    """Collect the kept documents of ood, or of the first split, as each row's first seed explained them."""
    splits = find_shared_splits(rows)
    if not splits:
        return []
    split = "ood" if "ood" in splits else splits[0]
    seed = next(iter(rows.values()))[0].cell.seed
    views: dict[str, ExampleView] = {}
    for name, cells in rows.items():
        chosen = next((each for each in cells if each.cell.seed == seed), cells[0])
        for example, explanation in read_shown(runs / chosen.cell.key, split):
            known = views.get(example.id, ExampleView(example, {}))
            if known.example == example:
                views[example.id] = ExampleView(example, {**known.explanations, name: explanation})
    return list(views.values())
