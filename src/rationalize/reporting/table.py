"""A small table that renders to a terminal, Markdown, LaTeX and HTML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

from markupsafe import Markup
from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table as RichTable
from rich.text import Text

from rationalize.printable import to_one_line
from rationalize.reporting.templating import escape_markdown, render
from rationalize.reporting.wording import Kind, Value, format_value, magnitude

NARROW = 10  # width of a column in a table on its side
LATEX = {
    **{each: f"\\{each}" for each in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "–": "--",
    "<": r"$<$",
    ">": r"$>$",
    "\u00a0": "~",
    "\u202f": r"\,",
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its heading (with an optional heading above it), its kind of values, and which value is best."""

    title: str
    kind: Kind = "score"
    group: str = ""
    best: Literal["max", "min"] | None = None

    @property
    def full_title(self) -> str:
        """Both headings on one line."""
        return f"{self.group} {self.title}".strip()


@dataclass(frozen=True, slots=True)
class TableRow:
    """One value per column; the first is the row's name. Rows set apart never count as best."""

    values: tuple[Value, ...]
    apart: bool = False


@dataclass(frozen=True, slots=True)
class WrittenRow:
    """A row as text, each cell with whether it is the best of its column."""

    cells: tuple[tuple[str, bool], ...]
    apart: bool


@dataclass(frozen=True, slots=True)
class Table:
    """Values under headings, with notes below."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[TableRow, ...]
    notes: tuple[str, ...] = ()

    def is_best(self, row: TableRow, index: int) -> bool:
        """Return whether the row has the best value of a column, among two or more."""
        best = self.columns[index].best
        rivals = [magnitude(rival.values[index]) for rival in self.rows if not rival.apart]
        numbers = [number for number in rivals if number is not None]
        if best is None or row.apart or len(numbers) < 2:
            return False
        return magnitude(row.values[index]) == (max(numbers) if best == "max" else min(numbers))

    def format_rows(self) -> list[WrittenRow]:
        """Format all rows as text, those set apart last."""
        return [self._write(row) for row in sorted(self.rows, key=lambda row: row.apart)]

    def _write(self, row: TableRow) -> WrittenRow:
        pairs = zip(row.values, self.columns, strict=True)
        texts = [to_one_line(format_value(value, column.kind)) for value, column in pairs]
        return WrittenRow(tuple((text, self.is_best(row, i)) for i, text in enumerate(texts)), row.apart)

    def heading_groups(self) -> list[tuple[str, int]]:
        """List the upper headings, each with the number of columns it spans."""
        groups = groupby(self.columns, key=lambda column: column.group)
        return [(name, sum(1 for _ in columns)) for name, columns in groups]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        upright = _to_rich(self)
        unbounded = options.update_width(10_000)
        fits = Measurement.get(console, unbounded, upright).maximum <= options.max_width
        if fits:
            yield upright
        else:
            yield from _turn_on_side(self, options.max_width)

    def to_markdown(self) -> str:
        """Render a GitHub-flavored Markdown table with its title and notes."""
        blocks = [
            f"**{escape_markdown(self.title)}**" if self.title else "",
            "\n".join(_to_markdown_lines(self)),
            "  \n".join(escape_markdown(note) for note in self.notes),
        ]
        return "\n\n".join(block for block in blocks if block) + "\n"

    def to_latex(self) -> str:
        """Render LaTeX with booktabs: best values bold, rows set apart in italics, title and notes as comments."""
        aligned = "".join("l" if column.kind == "text" else "r" for column in self.columns)
        lines = [
            f"% {_escape_latex(to_one_line(self.title))}",
            rf"\begin{{tabular}}{{{aligned}}}",
            r"\toprule",
        ]
        lines += [
            _to_latex_line([_escape_latex(to_one_line(column.full_title)) for column in self.columns]),
            r"\midrule",
        ]
        for row in self.format_rows():
            name, *cells = [
                rf"\textbf{{{_escape_latex(text)}}}" if best else _escape_latex(text)
                for text, best in row.cells
            ]
            lines.append(_to_latex_line([rf"\emph{{{name}}}" if row.apart else name, *cells]))
        notes = (f"% {_escape_latex(to_one_line(note))}" for note in self.notes)
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", *notes, ""])

    def to_html(self) -> Markup:
        """Render an HTML table with caption, scoped headings and notes, everything escaped."""
        return Markup(render("table.html.j2", table=self))


def _to_rich(table: Table) -> RichTable:
    shown = _make_empty_rich(table)
    for column in table.columns:
        heading = Text("\n".join([to_one_line(column.group), to_one_line(column.title)]).strip())
        shown.add_column(heading, justify="left" if column.kind == "text" else "right", vertical="bottom")
    rows = table.format_rows()
    for row, following in zip(rows, [*rows[1:], None]):
        ends_part = following is not None and following.apart != row.apart
        shown.add_row(*_to_rich_cells(row), end_section=ends_part)
    return shown


def _turn_on_side(table: Table, width: int) -> Iterator[RichTable | Text]:
    """Yield tables with rows as columns, for narrow terminals, as many columns as fit; then the notes."""
    titles = [to_one_line(column.full_title) for column in table.columns[1:]]
    at_once = max(1, (width - max(map(len, titles), default=0)) // (NARROW + 1))
    rows = table.format_rows()
    for start in range(0, max(1, len(rows)), at_once):
        part = replace(table, title="" if start else table.title, notes=())
        yield _make_rich_part(part, titles, rows[start : start + at_once])
    yield Text("\n".join(map(to_one_line, table.notes)))


def _make_rich_part(table: Table, titles: list[str], rows: list[WrittenRow]) -> RichTable:
    shown = _make_empty_rich(table)
    cells = [_to_rich_cells(row) for row in rows]
    shown.add_column(no_wrap=True)
    for name, *_ in cells:
        longest = max((len(part) for part in name.plain.split()), default=0)
        shown.add_column(
            name, justify="right", vertical="bottom", min_width=min(longest, NARROW), max_width=NARROW
        )
    for index, title in enumerate(titles, start=1):
        shown.add_row(title, *(row[index] for row in cells))
    return shown


def _make_empty_rich(table: Table) -> RichTable:
    notes = Text("\n".join(map(to_one_line, table.notes))) if table.notes else None
    return RichTable(
        title=Text(to_one_line(table.title), style="bold") if table.title else None,
        title_justify="left",
        caption=notes,
        caption_justify="left",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )


def _to_rich_cells(row: WrittenRow) -> list[Text]:
    plain = "dim" if row.apart else ""
    return [Text(f"{text}*", style="bold") if best else Text(text, style=plain) for text, best in row.cells]


def _to_markdown_lines(table: Table) -> Iterator[str]:
    yield _to_markdown_line(escape_markdown(column.full_title) for column in table.columns)
    yield _to_markdown_line("---" if column.kind == "text" else "---:" for column in table.columns)
    for row in table.format_rows():
        (name, _), *cells = row.cells
        first = f"*{escape_markdown(name)}*" if row.apart else escape_markdown(name)
        yield _to_markdown_line(
            [first, *(f"**{text}**" if best else escape_markdown(text) for text, best in cells)]
        )


def _to_markdown_line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _to_latex_line(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _escape_latex(text: str) -> str:
    return "".join(LATEX.get(each, each) for each in text)
