"""The package's templates. HTML is escaped by default; Markdown is escaped by the filter `md`."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from rationalize.reporting.escape import markdown, one_line, printable
from rationalize.reporting.numbers import percent


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("rationalize.reporting"),
        autoescape=lambda name: name is None or not name.endswith(".md.j2"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "md": markdown,
        "one_line": one_line,
        "printable": printable,
        "percent": percent,
    }
    return environment


def render(template: str, /, **values: Any) -> str:
    """Fill in one of the package's templates."""
    return _environment().get_template(template).render(**values)
