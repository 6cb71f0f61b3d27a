"""`rationalize methods`: list the methods, or describe one."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rationalize.cli.flags import make_json_flag
from rationalize.reporting.terminal import echo, echo_json, make_console

if TYPE_CHECKING:
    from rationalize.methods.describing import Description

COLUMNS = {"id": 13, "title": 21, "faithful": 9, "passes": 10, "reference": 27}
"""Column widths for lines of 80 characters, trailing space included."""


def methods(
    name: Annotated[str | None, typer.Argument(help="Show this one in full, with its settings.")] = None,
    as_json: Annotated[bool, make_json_flag("Print JSON.")] = False,
) -> None:
    """List the methods, or show one in full.

    Example: rationalize methods un_rat
    """
    from rationalize.methods.describing import describe_method
    from rationalize.methods.registry import list_names

    if name is None:
        found = [describe_method(each) for each in list_names()]
        echo_json([_to_dict(each) for each in found]) if as_json else echo(_list(found))
        return
    one = describe_method(name)
    if as_json:
        echo_json(
            _to_dict(one) | {"description": _format_text(one), "settings": list(map(asdict, one.settings))}
        )
    else:
        _show(one)


def _to_dict(method: Description) -> dict[str, Any]:
    return {**asdict(method.about), "passes": asdict(method.passes)}


def _list(found: list[Description]) -> str:
    """List one line per method, grouped by supervision."""
    from rationalize.methods.describing import GROUPS

    lines = [_format_line(*COLUMNS)]
    for supervision, title in GROUPS.items():
        lines += ["", title]
        for each in found:
            about = each.about
            if about.supervision == supervision:
                faithful = "yes" if about.faithful else "no"
                lines.append(
                    _format_line(about.name, about.title, faithful, each.passes.shorten(), about.cite)
                )
    notes = [
        "faithful: the label depends on the selected words alone",
        "passes: how often an encoder reads a text per training step, by phase",
        "rationalize methods NAME: objective, phases, settings and pitfalls of a method",
    ]
    return "\n".join([*lines, "", *notes])


def _format_line(*cells: str) -> str:
    fitted = (_fit(cell, width - 1).ljust(width) for cell, width in zip(cells, COLUMNS.values(), strict=True))
    return "".join(fitted).rstrip()


def _fit(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _format_text(method: Description) -> str:
    sections = (f"**{heading}** {text}" for heading, text in method.sections.items())
    return "\n\n".join([method.summary, *sections, f"**Reference** {method.about.reference}"])


def _show(method: Description) -> None:
    from rich.markdown import Markdown
    from rich.table import Table

    console = make_console()
    console.print(Markdown(f"# {method.about.title} (`{method.about.name}`)\n\n{_format_text(method)}"))
    table = Table(title="Settings (--set NAME=VALUE)")
    table.add_column("name", no_wrap=True)
    table.add_column("default", overflow="fold")
    table.add_column("meaning")
    for row in method.settings:
        table.add_row(row.name, str(row.default), row.meaning)
    console.print(table)
