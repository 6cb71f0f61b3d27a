"""The report of a search: how the best score grew, what each setting did, the best runs' training."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path

from markupsafe import Markup

from rationalize.reporting.plots import Point, draw_chart
from rationalize.reporting.report import Report
from rationalize.reporting.table import Column, Table, TableRow
from rationalize.training.loop import read_epochs
from rationalize.tuning.search_plan import SearchPlan
from rationalize.tuning.trials import Trial
from rationalize.tuning.tuner import BEST, TuningOutcome, locate_trial

SHOWN = 4
"""Runs whose training is drawn."""


def make_tuning_report(plan: SearchPlan, found: TuningOutcome, command: str) -> Report:
    """Make the report of a search."""
    ranked = rank_trials(found)
    out = Path(found.out)
    failed = sum(trial.state == "failed" for trial in found.trials)
    lines = [f"{len(ranked)} trials, chosen by {found.metric} on dev ({found.direction})."]
    lines += [f"{failed} failed."] if failed else []
    if found.best is not None:
        lines.append(f"The best is trial {found.best.number}; its settings are in {BEST}.")
    lines.append("The best of many dev scores is too good: score the chosen settings on test, once.")
    curves = {
        f"trial {trial.number}": read_epochs(locate_trial(out, trial.number)) for trial in ranked[:SHOWN]
    }
    best = out / BEST
    return Report(
        title=f"Search over {', '.join(plan.space)}",
        summary=" ".join(lines),
        tables=[make_trial_table(plan, found)],
        charts=[chart for chart in (_draw_history(found), *_draw_settings(plan, ranked)) if chart],
        curves={name: rows for name, rows in curves.items() if rows},
        config=best.read_text(encoding="utf-8") if best.is_file() else "",
        commands=[command],
    )


def rank_trials(found: TuningOutcome) -> list[Trial]:
    """Return the complete trials, the best first."""
    sign = -1 if found.direction == "maximize" else 1
    complete = [trial for trial in found.trials if trial.score is not None]
    return sorted(complete, key=lambda trial: (sign * (trial.score or 0.0), trial.number))


def make_trial_table(plan: SearchPlan, found: TuningOutcome) -> Table:
    """Make a table of all complete trials, the best first."""
    columns = (Column("trial", "text"), Column(found.metric), *(Column(name, "text") for name in plan.space))
    rows = tuple(
        TableRow(
            (
                str(trial.number),
                trial.score,
                *(_format_setting(trial.values.get(name)) for name in plan.space),
            )
        )
        for trial in rank_trials(found)
    )
    return Table("Trials", columns, rows)


def _format_setting(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _draw_history(found: TuningOutcome) -> Markup:
    scored = [(float(trial.number), trial.score) for trial in found.trials if trial.score is not None]
    choose = max if found.direction == "maximize" else min
    best = list(accumulate((score for _, score in scored), choose))
    series: dict[str, list[Point]] = {
        "trial": _scatter([*scored]),
        "best so far": [(number, score) for (number, _), score in zip(scored, best, strict=True)],
    }
    return draw_chart(series, title=found.metric, x_title="trial")


def _draw_settings(plan: SearchPlan, ranked: list[Trial]) -> list[Markup]:
    charts = []
    for name, dimension in plan.space.items():
        points: list[Point] = [
            (dimension.place(trial.values[name]), trial.score) for trial in ranked if name in trial.values
        ]
        x_title = f"log10 of {name}" if dimension.log else name
        if dimension.choices is not None:
            x_title += f" ({', '.join(f'{place}: {each}' for place, each in enumerate(dimension.choices))})"
        is_range = dimension.choices is None
        points.sort(key=lambda point: point[0])
        charts.append(
            draw_chart({"trial": _scatter(points)}, title=plan.metric, x_title=x_title, round_x=is_range)
        )
    return charts


def _scatter(points: list[Point]) -> list[Point]:
    """Break the line after every point, so that only the points are drawn."""
    return [each for x, y in points for each in ((x, y), (x, None))]
