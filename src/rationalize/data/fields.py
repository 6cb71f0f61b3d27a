"""Fields of a row, checked. A field that is wrong is reported on the row and gets a stand-in value."""

from __future__ import annotations

import math
from typing import Any, TypeGuard

from rationalize.data.findings import FileRow, brief
from rationalize.text.words import WHITE_SPACE
from rationalize.types import Document, Span

# Groups become positions in a list when they are written, so a stray huge number must not pass.
MAX_GROUPS = 10_000


def is_integer(value: object) -> TypeGuard[int]:
    """Whether it is a whole number (`true` is not)."""
    return isinstance(value, int) and not isinstance(value, bool)


def require(row: FileRow, field: str) -> Any:
    """The value of a field that must be there; None (and an error) if it is not."""
    if field not in row.values:
        present = ", ".join(map(str, row.values)) or "no fields"
        row.error("missing field", field, seen=present, expected=f"a field {field!r}")
    return row.values.get(field)


def text_of(row: FileRow, field: str) -> str:
    """A text with at least one word in it."""
    value = require(row, field)
    if value is not None and not isinstance(value, str):
        row.error("wrong type", field, seen=brief(value), expected="a string")
        return ""
    if field in row.values:
        require_words(row, field, value)
    return value or ""


def require_words(row: FileRow, field: str, text: str | None) -> None:
    """Report a text without a single word: there is nothing to select from."""
    if not text or not text.strip(WHITE_SPACE):
        row.error("empty text", field, seen=brief(text), expected="at least one word")


def optional_string(row: FileRow, field: str) -> str | None:
    """A string, or None where the field is absent or null."""
    value = row.values.get(field)
    if value is not None and not isinstance(value, str):
        row.error("wrong type", field, seen=brief(value), expected="a string or null")
        return None
    return value


def label_of(row: FileRow, field: str) -> str | None:
    """A class name; numbers and booleans become their Python spelling, null and absence None."""
    value = row.values.get(field)
    if value is None or isinstance(value, str):
        return value
    if not isinstance(value, int | float) or (isinstance(value, float) and not math.isfinite(value)):
        row.error("wrong type", field, seen=brief(value), expected="a class name, a number or true/false")
    return str(value)


def id_of(row: FileRow, field: str, default: str | None = None) -> str:
    """An identifier, string or whole number; `default` where it may be missing."""
    value = row.values.get(field)
    if value is None and default is not None:
        return default
    value = require(row, field)
    if is_integer(value) or (isinstance(value, str) and value):
        return str(value)
    if field in row.values:
        row.error("wrong type", field, seen=brief(value), expected="a non-empty string")
    return ""


def offsets(row: FileRow, field: str, start: Any, end: Any, length: int, unit: str) -> tuple[int, int] | None:
    """A checked pair of offsets; None if it is wrong (an error) or covers nothing (a warning)."""
    seen = f"{brief(start)}, {brief(end)}"
    if not (is_integer(start) and is_integer(end)):
        row.error("offset is not an integer", field, seen=seen, expected=f"start and end in {unit}")
    elif start < 0 or end < 0:
        row.error("negative offset", field, seen=seen, expected=f"0 to {length} ({unit})")
    elif start > end:
        row.error("start after end", field, seen=seen, expected="start < end, end-exclusive")
    elif end > length:
        row.error("offset outside the text", field, seen=seen, expected=f"0 to {length} ({unit})")
    elif start == end:
        row.warning("zero-length span", field, seen=seen, expected="start < end; the span is left out")
    else:
        return start, end
    return None


def spans_of(row: FileRow, field: str, length: int) -> tuple[Span, ...] | None:
    """Spans written as `[start, end]` or `[start, end, group]`; None where nobody marked anything."""
    value = row.values.get(field)
    if value is None:
        return None
    if not isinstance(value, list):
        row.error("wrong type", field, seen=brief(value), expected="a list of [start, end]")
        return None
    found = (_span(row, f"{field}[{index}]", item, length) for index, item in enumerate(value))
    return tuple(span for span in found if span)


def _span(row: FileRow, field: str, item: Any, length: int) -> Span | None:
    if not isinstance(item, list) or len(item) not in (2, 3):
        row.error("wrong type", field, seen=brief(item), expected="[start, end] or [start, end, group]")
        return None
    group = item[2] if len(item) == 3 else 0
    if not is_integer(group) or not 0 <= group < MAX_GROUPS:
        row.error("wrong group", field, seen=brief(group), expected=f"an integer, 0 to {MAX_GROUPS - 1}")
        return None
    pair = offsets(row, field, item[0], item[1], length, "characters")
    return Span(*pair, group) if pair else None


def documents_of(row: FileRow, field: str, length: int) -> tuple[Document, ...]:
    """Named documents written as `{"id", "start", "end"}`; empty where the field is absent or null."""
    value = row.values.get(field)
    if value is None:
        return ()
    if not isinstance(value, list):
        row.error("wrong type", field, seen=brief(value), expected="a list of {id, start, end}")
        return ()
    found = (_document(row, f"{field}[{index}]", item, length) for index, item in enumerate(value))
    return tuple(document for document in found if document)


def _document(row: FileRow, field: str, item: Any, length: int) -> Document | None:
    if not isinstance(item, dict) or not isinstance(item.get("id"), str) or not item["id"]:
        row.error("wrong type", field, seen=brief(item), expected='{"id": "…", "start": …, "end": …}')
        return None
    start, end = item.get("start"), item.get("end")
    if is_integer(start) and start == end and 0 <= start <= length:
        return Document(item["id"], start, start)  # an empty document is a document
    pair = offsets(row, field, start, end, length, "characters")
    return Document(item["id"], *pair) if pair else None
