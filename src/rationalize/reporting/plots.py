"""Line charts as inline SVG, such as training curves: no script, no network, lines distinct by dash and marker as well
as by color."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from rationalize.reporting.templating import render
from rationalize.reporting.wording import DEV_SCORES, Kind, format_value

WIDTH, HEIGHT = 340, 190
LEFT, RIGHT, TOP, BOTTOM = 42, 12, 10, 28
# Okabe and Ito's colors, dark enough on white, each with its own dash and marker.
COLORS = ("#0072b2", "#b34700", "#007a5a", "#a3457c", "#5b5b5b", "#8a6d00", "#2f7fb8", "#000000")
DASHES = ("", "6 3", "2 2.5", "8 3 2 3", "4 2", "1 3", "10 4", "3 5")
MARKERS = ("circle", "square", "triangle", "diamond")

Point = tuple[float, float | None]
Series = Mapping[str, Sequence[Point]]
Spreads = Mapping[str, Sequence[float | None]]
"""By name: how far the error bar of each point reaches up and down."""
LogRows = Sequence[Mapping[str, Any]]
"""Rows of a `metrics.jsonl`: `epoch` (counted from 0), `dev` scores and mean `losses` (`phase.part`)."""


@dataclass(frozen=True, slots=True)
class PlotLine:
    """One drawn series: its look, its unbroken pieces and its points, in pixels."""

    name: str
    color: str
    dash: str
    marker: str
    pieces: tuple[str, ...]
    points: tuple[tuple[float, float], ...]
    bars: tuple[tuple[float, float, float], ...]
    last: str


@dataclass(frozen=True, slots=True)
class Axis:
    """A range of values, mapped to a range of pixels."""

    low: float
    high: float
    start: float
    end: float

    def place(self, value: float) -> float:
        """Return the position of a value, in pixels."""
        share = (value - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)


def draw_chart(
    series: Series,
    *,
    title: str,
    x_title: str = "epoch",
    kind: Kind | None = "score",
    spreads: Spreads | None = None,
    round_x: bool = False,
) -> Markup:
    """Draw a small chart of one or more series of (x, y) points; a y of None or NaN breaks the line.

    Args:
        series: Points by the name to show.
        title: What y is.
        x_title: What x is.
        kind: How y is written; None for plain decimals.
        spreads: Error bars.
        round_x: Label x at round numbers, not at the points.
    """
    drawn = _draw(series, title, x_title, kind, spreads or {}, round_x=round_x)
    return Markup(render("chart.html.j2", **drawn)) if drawn else Markup("")


def draw_chart_svg(
    series: Series, *, title: str, x_title: str, kind: Kind | None = "score", spreads: Spreads | None = None
) -> str:
    """Draw the same chart as a standalone SVG file, legend included; empty without points."""
    drawn = _draw(series, title, x_title, kind, spreads or {})
    return render("chart.svg.j2", **drawn) if drawn else ""


def _draw(
    series: Series,
    title: str,
    x_title: str,
    kind: Kind | None,
    spreads: Spreads,
    *,
    round_x: bool = False,
) -> dict[str, object] | None:
    """Compute everything that the templates need, in pixels."""
    cleaned = {name: [(x, _drop_infinite(y)) for x, y in points] for name, points in series.items()}
    reach = {name: _make_bars(points, spreads.get(name)) for name, points in cleaned.items()}
    xs = [x for points in cleaned.values() for x, _ in points]
    ys = [y for points in cleaned.values() for _, y in points if y is not None]
    ys += [y for bars in reach.values() for _, low, high in bars for y in (low, high)]
    if not ys:
        return None
    y_ticks = choose_ticks(min(ys), max(ys))
    x_ticks = choose_ticks(min(xs), max(xs)) if round_x else _choose_x_ticks(xs)
    left, right = min(*xs, *x_ticks), max(*xs, *x_ticks)
    x_axis = Axis(left, right if right > left else left + 1, LEFT + 6, WIDTH - RIGHT)
    y_axis = Axis(y_ticks[0], y_ticks[-1], HEIGHT - BOTTOM, TOP)
    return {
        "title": title,
        "x_title": x_title,
        "lines": [
            _draw_line(index, name, points, reach[name], x_axis, y_axis, kind)
            for index, (name, points) in enumerate(cleaned.items())
        ],
        "x_ticks": [(x_axis.place(x), f"{x:g}") for x in x_ticks],
        "y_ticks": [(y_axis.place(y), _format_tick(y, kind)) for y in y_ticks],
        "size": (WIDTH, HEIGHT),
        "frame": (LEFT, TOP, WIDTH - RIGHT, HEIGHT - BOTTOM),
    }


def _make_bars(
    points: Sequence[Point], spread: Sequence[float | None] | None
) -> list[tuple[float, float, float]]:
    """Return each error bar as (x, low, high)."""
    pairs = zip(points, spread or [None] * len(points), strict=True)
    return [(x, y - by, y + by) for (x, y), by in pairs if y is not None and by]


def _drop_infinite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _draw_line(
    index: int,
    name: str,
    points: Sequence[Point],
    reach: Sequence[tuple[float, float, float]],
    x_axis: Axis,
    y_axis: Axis,
    kind: Kind | None,
) -> PlotLine:
    pieces: list[list[tuple[float, float]]] = [[]]
    for x, y in points:
        if y is None:
            pieces.append([])
        else:
            pieces[-1].append((x_axis.place(x), y_axis.place(y)))
    known = [y for _, y in points if y is not None]
    return PlotLine(
        name=name,
        color=COLORS[index % len(COLORS)],
        dash=DASHES[index % len(DASHES)],
        marker=MARKERS[index % len(MARKERS)],
        pieces=tuple(" ".join(f"{x},{y}" for x, y in piece) for piece in pieces if len(piece) > 1),
        points=tuple(point for piece in pieces for point in piece),
        bars=tuple((x_axis.place(x), y_axis.place(low), y_axis.place(high)) for x, low, high in reach),
        last=_format_tick(known[-1], kind) if known else "",
    )


def choose_ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Choose round numbers that enclose a range, at most about `most` of them."""
    spread = high - low or abs(high) or 1.0
    rough = spread / (most - 1)
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * factor for factor in (1, 2, 2.5, 5, 10) if unit * factor >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    last = max(last, first + 1)
    return [round(index * step, 12) for index in range(first, last + 1)]


def _choose_x_ticks(xs: Iterable[float], most: int = 8) -> list[float]:
    values = sorted(set(xs))
    return values[:: math.ceil(len(values) / most)]


def _format_tick(value: float, kind: Kind | None) -> str:
    if kind is not None:
        return format_value(value, kind).removesuffix(".0")
    return f"{value:.3f}".rstrip("0").removesuffix(".") if abs(value) < 1000 else f"{value:.3g}"


def draw_training(curves: Mapping[str, LogRows]) -> list[Markup]:
    """Draw one chart per dev score with a line per model, then one per model and phase with a line per loss."""
    epochs = {model: [row for row in rows if "epoch" in row] for model, rows in curves.items()}
    known = _list_names(epochs.values(), "dev")
    charts = [
        draw_chart(
            {model: _list_points(rows, "dev", name) for model, rows in epochs.items()},
            title=f"Dev: {title}, %",
        )
        for name, title in DEV_SCORES.items()
        if name in known
    ]
    charts += [chart for model, rows in epochs.items() for chart in _draw_losses(model, rows)]
    return [chart for chart in charts if chart]


def _draw_losses(model: str, rows: LogRows) -> Iterable[Markup]:
    phases: dict[str, dict[str, list[Point]]] = {}
    for name in _list_names([rows], "losses"):
        phase, _, part = name.rpartition(".") if name.count(".") < 2 else name.partition(".")
        phases.setdefault(phase, {})[part] = _list_points(rows, "losses", name)
    for phase, parts in phases.items():
        yield draw_chart(parts, title=f"Losses: {', '.join(filter(None, [model, phase]))}", kind=None)


def _list_names(many: Iterable[LogRows], section: str) -> list[str]:
    return list(dict.fromkeys(name for rows in many for row in rows for name in row.get(section) or {}))


def _list_points(rows: LogRows, section: str, name: str) -> list[Point]:
    return [(row["epoch"] + 1, (row.get(section) or {}).get(name)) for row in rows]
