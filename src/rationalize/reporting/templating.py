"""Render the package's templates: HTML is escaped by default, Markdown by the filter `md`."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from rationalize.printable import make_visible, to_one_line
from rationalize.reporting.wording import format_percent

_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~$&])")
_BLOCK_START = re.compile(r"^(\d+(?=[.)](?:\s|$))|(?=[-=+#]))(.)")


def escape_markdown(text: str) -> str:
    """Put text on one line and escape everything that Markdown or its tables would read as markup."""
    return _BLOCK_START.sub(r"\1\\\2", _MARKDOWN.sub(r"\\\1", to_one_line(text)))


@cache
def _make_environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("rationalize.reporting"),
        autoescape=lambda name: name is None or not name.endswith(".md.j2"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "md": escape_markdown,
        "one_line": to_one_line,
        "printable": make_visible,
        "percent": format_percent,
    }
    return environment


def render(template: str, /, **values: Any) -> str:
    """Fill in one of the package's templates."""
    return _make_environment().get_template(template).render(**values)
