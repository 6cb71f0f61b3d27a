"""Values of a record, checked. What is wrong is reported on its row and gets a stand-in."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from rationalize.data.findings import FileRow, shorten
from rationalize.files import JsonObject
from rationalize.text.words import WHITE_SPACE


def read_text(row: FileRow, values: Mapping[str, Any], field: str | None, place: str = "") -> str:
    """Return the text of a record: the named field, else `text`, else the only string there is."""
    strings = [name for name, value in values.items() if isinstance(value, str)]
    name = field or ("text" if "text" in values else strings[0] if len(strings) == 1 else "text")
    value = values.get(name)
    if name not in values:
        seen = ", ".join(map(str, values)) or "no fields"
        expected = f"a field {name!r}; name the one with the text in `text_field`"
        row.error("missing field", place + name, seen=seen, expected=expected)
    elif not isinstance(value, str):
        row.error("wrong type", place + name, seen=shorten(value), expected="a string")
    elif not value.strip(WHITE_SPACE):
        row.error("empty text", place + name, seen=shorten(value), expected="at least one word")
    return value if isinstance(value, str) else ""


def read_string(row: FileRow, values: Mapping[str, Any], name: str, place: str = "") -> str | None:
    """Return a string, or None where it is absent or null."""
    value = values.get(name)
    if value is None or isinstance(value, str):
        return value
    row.error("wrong type", place + name, seen=shorten(value), expected="a string or null")
    return None


def read_label(row: FileRow, value: Any, field: str) -> str | None:
    """Return a class: a name, number or boolean, alone or as the only one of a list. None: none was chosen."""
    if isinstance(value, list) and len(value) <= 1:
        value = value[0] if value else None
    if isinstance(value, list):
        row.error("several labels", field, seen=shorten(value), expected="one class for each text")
        return None
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return str(value)
    row.error("wrong type", field, seen=shorten(value), expected="a class name, a number or true/false")
    return None


def read_list(row: FileRow, values: Mapping[str, Any], name: str, place: str = "") -> list[Any]:
    """Return a list; empty where it is absent or null."""
    value = values.get(name)
    if value is not None and not isinstance(value, list):
        row.error("wrong type", place + name, seen=shorten(value), expected="a list")
    return as_list(value)


def as_list(value: Any) -> list[Any]:
    """Return the value if it is a list; empty for anything else."""
    return value if isinstance(value, list) else []


def read_object(row: FileRow, values: Mapping[str, Any], name: str, place: str = "") -> JsonObject:
    """Return an object; empty where it is absent or null."""
    value = values.get(name)
    if value is not None and not isinstance(value, dict):
        row.error("wrong type", place + name, seen=shorten(value), expected="an object")
    return value if isinstance(value, dict) else {}


def read_id(row: FileRow, *candidates: Any) -> str:
    """Return the first candidate that can be an id; else the file's name and the row's number."""
    for value in candidates:
        if (isinstance(value, str) and value) or type(value) is int:
            return str(value)
    return f"{row.file.rsplit('/', 1)[-1].rsplit('.', 1)[0]}-{row.line}"


def read_name(value: Any) -> str:
    """Return the label of a span as a name; empty where it has none."""
    return value if isinstance(value, str) else "" if value is None else str(value)
