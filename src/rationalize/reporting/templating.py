"""Render the package's templates, and make text of unknown origin safe to show.

HTML is escaped by default, Markdown by the filter `md`; no control code reaches a terminal.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from rationalize.reporting.wording import format_percent

_LINE_END = re.compile(r"\r\n?")
_BREAKABLE = re.compile(r"[^\S\u00a0\u202f]+")
_PICTURES: dict[int, int | str] = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"}
_PICTURES |= {0x7F: "\u2421"} | dict.fromkeys(range(0x80, 0xA0), "\ufffd")
# Surrogates cannot be written as UTF-8; direction overrides, unlike embeddings, only serve to deceive.
_UNFIT: dict[int, int | str] = dict.fromkeys([*range(0xD800, 0xE000), 0x202D, 0x202E], "\ufffd")
_INVISIBLE = _PICTURES | _UNFIT

_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~$&])")
_BLOCK_START = re.compile(r"^(\d+(?=[.)](?:\s|$))|(?=[-=+#]))(.)")


def make_printable(text: str) -> str:
    """Replace control characters by pictures (␛), surrogates and direction overrides by �."""
    return _LINE_END.sub("\n", text).translate(_INVISIBLE)


def to_one_line(text: str) -> str:
    """Make text printable on a single line; no-break spaces stay."""
    return _BREAKABLE.sub(" ", make_printable(text)).strip()


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
        "printable": make_printable,
        "percent": format_percent,
    }
    return environment


def render(template: str, /, **values: Any) -> str:
    """Fill in one of the package's templates."""
    return _make_environment().get_template(template).render(**values)
