"""The package's templates, and what makes text of unknown origin safe to show in them and elsewhere.

HTML is escaped by default, Markdown by the filter `md`; no control code reaches a terminal.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from rationalize.reporting.wording import percent

_LINE_END = re.compile(r"\r\n?")
_BREAKABLE = re.compile(r"[^\S\u00a0\u202f]+")
_PICTURES: dict[int, int | str] = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"}
_PICTURES |= {0x7F: "\u2421"} | dict.fromkeys(range(0x80, 0xA0), "\ufffd")
# Surrogates cannot be written as UTF-8; direction overrides, unlike embeddings, only serve to deceive.
_UNFIT: dict[int, int | str] = dict.fromkeys([*range(0xD800, 0xE000), 0x202D, 0x202E], "\ufffd")
_INVISIBLE = _PICTURES | _UNFIT

_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~$&])")
_BLOCK_START = re.compile(r"^(\d+(?=[.)](?:\s|$))|(?=[-=+#]))(.)")


def printable(text: str) -> str:
    """The text with control characters as pictures (␛), surrogates and direction overrides as �."""
    return _LINE_END.sub("\n", text).translate(_INVISIBLE)


def one_line(text: str) -> str:
    """Printable text on a single line, no-break spaces kept."""
    return _BREAKABLE.sub(" ", printable(text)).strip()


def markdown(text: str) -> str:
    """The text on one line, with everything that Markdown or its tables would read as markup escaped."""
    return _BLOCK_START.sub(r"\1\\\2", _MARKDOWN.sub(r"\\\1", one_line(text)))


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
