"""Make text of unknown origin fit to be shown: no control code reaches a terminal, nothing reorders a line."""

from __future__ import annotations

import re

_LINE_END = re.compile(r"\r\n?")
_BREAKABLE = re.compile(r"[^\S\u00a0\u202f]+")
_PICTURES: dict[int, int | str] = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"}
_PICTURES |= {0x7F: "\u2421"} | dict.fromkeys(range(0x80, 0xA0), "\ufffd")
# Surrogates cannot be written as UTF-8; direction overrides, unlike embeddings, only serve to deceive.
_UNFIT: dict[int, int | str] = dict.fromkeys([*range(0xD800, 0xE000), 0x202D, 0x202E], "\ufffd")
_INVISIBLE = _PICTURES | _UNFIT
# On a page an element ends what an embedding or isolate began; on a terminal nothing does.
_DIRECTIONS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_UNPRINTABLE = _INVISIBLE | dict.fromkeys(_DIRECTIONS, "\ufffd")
_NUMBER = re.compile(r"[-+]?\d+(\.\d*)?(e[-+]?\d+)?", re.IGNORECASE)
_UNFIT_IN_JSON = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def make_visible(text: str) -> str:
    """Replace control characters by pictures (␛), surrogates and direction overrides by �: for pages."""
    return _LINE_END.sub("\n", text).translate(_INVISIBLE)


def make_printable(text: str) -> str:
    """Make text fit for a terminal: as `make_visible`, and whatever sets a direction is replaced as well."""
    return _LINE_END.sub("\n", text).translate(_UNPRINTABLE)


def to_one_line(text: str) -> str:
    """Make text printable on a single line; no-break spaces stay."""
    return _BREAKABLE.sub(" ", make_printable(text)).strip()


def guard_formula(cell: str) -> str:
    """Put an apostrophe before text that a spreadsheet would run as a formula; numbers stay as they are."""
    if cell[:1] not in ("=", "+", "-", "@", "\t", "\r") or _NUMBER.fullmatch(cell):
        return cell
    return f"'{cell}"


def make_json_printable(text: str) -> str:
    """Escape in JSON what `make_printable` would replace; the values stay the same."""
    return _UNFIT_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
