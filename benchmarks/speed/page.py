"""Write answers as Markdown and SVG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from benchmarks.speed.answer import Answer, Row
from rationalize.files import write_text

COMMANDS = {"speed": "make bench", "scale": "make bench-scale"}
START, END = "<!-- measured by make bench -->", "<!-- end of what was measured -->"
LEFT, WIDTH, LINE = 300, 640, 22
LOG_FROM = 30
"""From this ratio between the longest and the shortest bar on, they are drawn on a logarithmic scale."""
SHARES = ("spread", "task_f1", "token_f1", "selected")


def format_number(name: str, value: float | None) -> str:
    """Format a number of a column."""
    if value is None:
        return ""
    if name in SHARES:
        return f"{100 * value:.1f} %" if name != "spread" else f"{100 * value:.0f} %"
    if name in ("size", "n", "megabytes"):
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) < 100 else f"{value:,.0f}"


def write_table(answer: Answer) -> str:
    """Return the answer as a Markdown table."""
    columns = {
        name: title
        for name, title in answer.columns.items()
        if any(name in row.numbers for row in answer.rows)
    }
    lines = [f"| | {' | '.join(columns.values())} |", f"| --- |{' ---: |' * len(columns)}"]
    for row in answer.rows:
        cells = [format_number(name, row.numbers.get(name)) for name in columns]
        lines.append(f"| {row.name}{' *' if row.extrapolated else ''} | {' | '.join(cells)} |")
    return "\n".join(lines)


def draw_bars(answer: Answer) -> str:
    """Draw the answer's charted column as an SVG of bars."""
    rows = [row for row in answer.rows if row.numbers.get(answer.chart, 0) > 0]
    values = [row.numbers[answer.chart] for row in rows]
    logarithmic = bool(values) and max(values) / min(values) > LOG_FROM
    title = f"{answer.title}: {answer.columns[answer.chart]}{', logarithmic' if logarithmic else ''}"
    height = 34 + LINE * len(rows) + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH + 80} {height}" width="{WIDTH + 80}" '
        'font-family="system-ui, sans-serif" font-size="12" fill="#1b1f24">',
        f"<title>{escape(title)}</title>",
        '<rect width="100%" height="100%" fill="#fff"/>',
        f'<text x="8" y="18" font-weight="600">{escape(title)}</text>',
    ]
    for place, row in enumerate(rows):
        parts += _draw_bar(row, answer.chart, 34 + LINE * place, _scale(values, logarithmic))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _scale(values: Sequence[float], logarithmic: bool) -> tuple[float, float, bool]:
    low = math.log(min(values)) - 0.5 if logarithmic else 0.0
    return low, math.log(max(values)) if logarithmic else max(values), logarithmic


def _draw_bar(row: Row, column: str, y: int, scale: tuple[float, float, bool]) -> list[str]:
    low, high, logarithmic = scale
    value = row.numbers[column]
    share = ((math.log(value) if logarithmic else value) - low) / (high - low)
    length = round(share * (WIDTH - LEFT), 1)
    ours = row.name.startswith(("explain", "predict", "un_rat", "semi_rat"))
    color = "#0072b2" if ours else "#8a8f96"
    return [
        f'<text x="{LEFT - 6}" y="{y + 13}" text-anchor="end">{escape(row.name)}</text>',
        f'<rect x="{LEFT}" y="{y + 2}" width="{length}" height="{LINE - 6}" fill="{color}"/>',
        f'<text x="{LEFT + length + 5}" y="{y + 13}">{format_number(column, value)}</text>',
    ]


def write_section(answer: Answer, facts: Mapping[str, str], figures: str, name: str = "speed") -> str:
    """Return the answer's section of the page."""
    notes = "\n".join(f"- {note}" for note in answer.notes)
    command = f"- `{facts['command']}`, {facts['date']}; load {facts['load at the start']} at the start."
    figure = f"![{answer.title}]({figures}/{name}-{answer.question}.svg)"
    return f"### {answer.title}\n\n{write_table(answer)}\n\n{figure}\n\n{notes}\n{command}\n"


def write_page(
    answers: Sequence[tuple[Answer, dict[str, str]]], page: Path, figures: Path, name: str = "speed"
) -> None:
    """Put all answers of a benchmark between the page's marks, and their figures into a folder."""
    for answer, _ in answers:
        write_text(figures / f"{name}-{answer.question}.svg", draw_bars(answer))
    shown = {
        name: value
        for name, value in answers[-1][1].items()
        if name not in ("command", "date", "load at the start")
    }
    machine = "; ".join(f"{name}: {value}" for name, value in shown.items())
    body = "\n".join(write_section(answer, facts, figures.name, name) for answer, facts in answers)
    put_between(page, START.replace(COMMANDS["speed"], COMMANDS[name]), END, f"Machine: {machine}.\n\n{body}")


def put_between(page: Path, start: str, end: str, text: str) -> None:
    """Put text between two marks of a page; a page without them gets them at its end."""
    before = page.read_text(encoding="utf-8") if page.is_file() else ""
    if start not in before:
        before += f"{start}\n{end}\n"
    head, _, rest = before.partition(start)
    write_text(page, f"{head}{start}\n\n{text}\n{end}{rest.partition(end)[2]}")
