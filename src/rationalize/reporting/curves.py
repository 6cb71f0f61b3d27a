"""Training curves: dev scores of all models together, losses of each model by phase."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from rationalize.reporting.names import DEV_SCORES
from rationalize.reporting.plots import Point, line_chart

LogRows = Sequence[Mapping[str, Any]]
"""Rows of a `metrics.jsonl`: `epoch` (counted from 0), `dev` scores and mean `losses` (`phase.part`)."""


def curve_charts(curves: Mapping[str, LogRows]) -> list[Markup]:
    """One chart per dev score with a line per model, then one per model and phase with a line per loss."""
    epochs = {model: [row for row in rows if "epoch" in row] for model, rows in curves.items()}
    known = _names(epochs.values(), "dev")
    charts = [
        line_chart(
            {model: _points(rows, "dev", name) for model, rows in epochs.items()}, title=f"Dev: {title}, %"
        )
        for name, title in DEV_SCORES.items()
        if name in known
    ]
    charts += [chart for model, rows in epochs.items() for chart in _loss_charts(model, rows)]
    return [chart for chart in charts if chart]


def _loss_charts(model: str, rows: LogRows) -> Iterable[Markup]:
    phases: dict[str, dict[str, list[Point]]] = {}
    for name in _names([rows], "losses"):
        phase, _, part = name.rpartition(".") if name.count(".") < 2 else name.partition(".")
        phases.setdefault(phase, {})[part] = _points(rows, "losses", name)
    for phase, parts in phases.items():
        yield line_chart(parts, title=f"Losses: {', '.join(filter(None, [model, phase]))}", kind=None)


def _names(many: Iterable[LogRows], section: str) -> list[str]:
    return list(dict.fromkeys(name for rows in many for row in rows for name in row.get(section) or {}))


def _points(rows: LogRows, section: str, name: str) -> list[Point]:
    return [(row["epoch"] + 1, (row.get(section) or {}).get(name)) for row in rows]
