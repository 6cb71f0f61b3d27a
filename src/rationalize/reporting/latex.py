"""A table for a paper: LaTeX with booktabs."""

from __future__ import annotations

from rationalize.reporting.table import Table

SPECIAL = {
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


def to_latex(table: Table) -> str:
    """The best values bold, rows set apart in italics; title and notes as comments."""
    aligned = "".join("l" if column.kind == "text" else "r" for column in table.columns)
    lines = [f"% {table.title}", rf"\begin{{tabular}}{{{aligned}}}", r"\toprule"]
    lines += [_line([_tex(column.full_title) for column in table.columns]), r"\midrule"]
    for row in table.format_rows():
        name, *cells = [rf"\textbf{{{_tex(text)}}}" if best else _tex(text) for text, best in row.cells]
        lines.append(_line([rf"\emph{{{name}}}" if row.apart else name, *cells]))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", *(f"% {note}" for note in table.notes), ""])


def _line(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _tex(text: str) -> str:
    return "".join(SPECIAL.get(each, each) for each in text)
