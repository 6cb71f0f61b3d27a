"""`rationalize methods`: which there are, and how each works."""

from __future__ import annotations

import inspect
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rationalize.files import to_json

if TYPE_CHECKING:
    from pydantic import BaseModel

GOLD = {"none": "no", "part": "some", "full": "all"}


def methods(
    name: Annotated[str | None, typer.Argument(help="Show this one in full, with its settings.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the methods, or show one in full.

    Example: rationalize methods un_rat
    """
    from rationalize.methods.registry import method_class, names

    if name is not None:
        _show(name, as_json=as_json)
    elif as_json:
        typer.echo(to_json([asdict(method_class(each).about) for each in names()]))
    else:
        _list()


def _list() -> None:
    from rich.console import Console
    from rich.table import Table

    from rationalize.methods.registry import method_class, names

    table = Table(title="Methods", caption="gold: which training examples need a gold rationale")
    for column in ("id", "name", "gold", "faithful", "passes: train", "explain", "how it works", "reference"):
        table.add_column(column, overflow="fold")
    for about in (method_class(each).about for each in names()):
        table.add_row(
            about.name,
            about.title,
            GOLD[about.supervision],
            "yes" if about.faithful else "no",
            about.passes_train,
            about.passes_explain,
            about.headline,
            about.reference,
        )
    Console().print(table)


def _show(name: str, *, as_json: bool) -> None:
    from rich.console import Console
    from rich.markdown import Markdown
    from rich.table import Table

    from rationalize.methods.registry import method_class

    cls = method_class(name)
    text = inspect.cleandoc(cls.__doc__ or "")
    settings = list(_settings(cls.Config, "options"))
    if as_json:
        typer.echo(to_json({**asdict(cls.about), "description": text, "settings": settings}))
        return
    console = Console()
    console.print(
        Markdown(f"# {cls.about.title} (`{name}`)\n\n{text}\n\n**Reference** {cls.about.reference}")
    )
    table = Table(title="Settings (--set NAME=VALUE)")
    for column in ("name", "default", "meaning"):
        table.add_column(column, overflow="fold")
    for row in settings:
        table.add_row(row["name"], str(row["default"]), row["meaning"])
    console.print(table)


def _settings(config: type[BaseModel], prefix: str) -> list[dict[str, Any]]:
    """Every setting of a config, nested ones by dotted name."""
    rows: list[dict[str, Any]] = []
    for name, field in config.model_fields.items():
        default = field.get_default()
        if hasattr(default, "model_fields"):
            rows += _settings(type(default), f"{prefix}.{name}")
        else:
            meaning = " ".join((field.description or "").split())
            rows.append({"name": f"{prefix}.{name}", "default": default, "meaning": meaning})
    return rows
