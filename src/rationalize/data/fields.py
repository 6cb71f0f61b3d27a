"""Fields of a row, checked. A field that is wrong is reported on the row and gets a stand-in value."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from itertools import islice
from typing import Any, TypeGuard

from rationalize.data._label_spellings import name_class
from rationalize.data._token_masks import is_tokens, place_tokens
from rationalize.data.findings import FileRow, shorten
from rationalize.text.words import has_words
from rationalize.types import Document, Scalar, Span

# Groups become positions in a list when they are written, so a stray huge number must not pass.
MAX_GROUPS = 10_000

FIELDS = frozenset({"id", "text", "tokens", "label", "query", "rationale", "shortcuts", "documents"})
"""The fields of our own rows; whatever they hold, they are no metadata."""


def is_integer(value: object) -> TypeGuard[int]:
    """Return whether it is a whole number (`true` is not)."""
    return isinstance(value, int) and not isinstance(value, bool)


def require(row: FileRow, field: str, setting: str = "") -> Any:
    """Return the value of a required field; report a missing one and return None. `setting` names the field."""
    if field not in row.values:
        present = ", ".join(map(str, row.values)) or "no fields"
        expected = f"a field {field!r}" + (f", or another by {setting}" if setting else "")
        row.error("missing field", field, seen=present, expected=expected, setting=setting)
    return row.values.get(field)


def read_text(row: FileRow, field: str, *, empty: bool = False) -> tuple[str, list[Span] | None]:
    """Return a text with at least one word in it, and where its tokens lie if it comes as a list of them.

    A row without the field may have `tokens` instead. `empty`: a text may also have no word.
    """
    field = "tokens" if field not in row.values and "tokens" in row.values else field
    value = require(row, field, "data.fields.text")
    text, places = place_tokens(value) if is_tokens(value) else (value, None)
    if text is not None and not isinstance(text, str):
        row.error("wrong type", field, seen=shorten(value), expected="a string, or a list of tokens")
        return "", None
    if field in row.values and not empty and not (text and has_words(text)):
        report_empty_text(row, field, text)
    return text or "", places


def report_empty_text(row: FileRow, field: str, text: str | None) -> None:
    """Report a text without a single word: there is nothing to select from."""
    row.error("empty text", field, seen=shorten(text), expected="at least one word")


def read_optional_string(row: FileRow, field: str) -> str | None:
    """Return a string, or None where the field is absent or null."""
    value = row.values.get(field)
    if value is not None and not isinstance(value, str):
        row.error("wrong type", field, seen=shorten(value), expected="a string or null")
        return None
    return value


def read_label(row: FileRow, field: str) -> str | None:
    """Return a class name; null and absence are None. How it is written is counted, see `LabelSpellings`."""
    value = row.values.get(field)
    if value is None:
        return None
    if isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value)):
        row.findings.labels.count(value)
        return name_class(value)
    row.error("wrong type", field, seen=shorten(value), expected="a class name, a number or true/false")
    return str(value)


def read_id(row: FileRow, field: str, default: str | None = None) -> str:
    """Return an identifier, string or whole number; `default` where it may be missing."""
    value = row.values.get(field)
    if value is None and default is not None:
        return default
    value = require(row, field)
    if is_integer(value) or (isinstance(value, str) and value):
        return str(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # a column of whole numbers with gaps is read as fractions
    if field in row.values:
        row.error("wrong type", field, seen=shorten(value), expected="a non-empty string or a whole number")
    return ""


def check_offsets(
    row: FileRow, field: str, start: Any, end: Any, length: int, unit: str
) -> tuple[int, int] | None:
    """Return a checked pair of offsets; None if it is wrong (an error) or covers nothing (a warning)."""
    seen = f"{shorten(start)}, {shorten(end)}"
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


def read_rationale(row: FileRow, field: str, text: str) -> tuple[Span, ...] | None:
    """Read gold as spans (see `read_spans`) or as the words themselves: a string, or a list of strings."""
    value = row.values.get(field)
    quotes = [value] if isinstance(value, str) else value
    if isinstance(quotes, list) and quotes and all(isinstance(quote, str) for quote in quotes):
        return _find_quotes(row, field, quotes, text)
    return read_spans(row, field, text)


def read_spans(row: FileRow, field: str, text: str) -> tuple[Span, ...] | None:
    """Return spans written as `[start, end]` or `[start, end, group]`; None where nobody marked anything."""
    value = row.values.get(field)
    if value is None:
        return None
    if not isinstance(value, list):
        row.error("wrong type", field, seen=shorten(value), expected="a list of [start, end]")
        return None
    found = (_read_span(row, f"{field}[{index}]", item, len(text)) for index, item in enumerate(value))
    return tuple(span for span in found if span)


def _find_quotes(row: FileRow, field: str, quotes: list[str], text: str) -> tuple[Span, ...] | None:
    """Find spans that are given by their words; words that occur more than once are ambiguous."""
    found = []
    for quote in quotes:
        places = find_quote(text, quote)
        if not places:
            expected = "words that stand in the text, or [[start, end], …]"
            row.error("rationale not in the text", field, seen=shorten(quote), expected=expected)
            return None
        if len(places) > 1:
            expected = "words that stand there once, or [[start, end], …]; the row counts as not annotated"
            row.warning("rationale twice in the text", field, seen=shorten(quote), expected=expected)
            return None
        found.append(places[0])
    return tuple(found)


def find_quote(text: str, quote: str) -> list[Span]:
    """Find at most two places of a quote in a text; if it is nowhere, with any white space between its words."""
    if not quote.strip():
        return []
    found, start = list[Span](), text.find(quote)
    while start >= 0 and len(found) < 2:
        found.append(Span(start, start + len(quote)))
        start = text.find(quote, start + 1)
    if found:
        return found
    pattern = re.compile(r"\s+".join(map(re.escape, quote.split())))
    return [Span(*match.span()) for match in islice(pattern.finditer(text), 2)]


def _read_span(row: FileRow, field: str, item: Any, length: int) -> Span | None:
    if not isinstance(item, list) or len(item) not in (2, 3):
        expected = "[start, end] or [start, end, group]"
        if isinstance(item, int) and item in (0, 1):
            expected += "; marks of 0 and 1 go with a text that is a list of tokens"
        row.error("wrong type", field, seen=shorten(item), expected=expected)
        return None
    group = item[2] if len(item) == 3 else 0
    if not is_integer(group) or not 0 <= group < MAX_GROUPS:
        row.error("wrong group", field, seen=shorten(group), expected=f"an integer, 0 to {MAX_GROUPS - 1}")
        return None
    pair = check_offsets(row, field, item[0], item[1], length, "characters")
    return Span(*pair, group) if pair else None


def read_metadata(row: FileRow, known: Collection[str]) -> dict[str, Scalar]:
    """Read the fields that mean nothing to us and hold one value each; a date is written out."""
    found: dict[str, Scalar] = {}
    for name, value in row.values.items():
        if hasattr(value, "isoformat"):
            value = value.isoformat()
        whole = isinstance(value, Scalar) and (not isinstance(value, float) or math.isfinite(value))
        if name not in known and name not in FIELDS and whole and value != "":
            found[name] = value
    return found


def read_documents(row: FileRow, field: str, length: int) -> tuple[Document, ...]:
    """Named documents written as `{"id", "start", "end"}`; empty where the field is absent or null."""
    value = row.values.get(field)
    if value is None:
        return ()
    if not isinstance(value, list):
        row.error("wrong type", field, seen=shorten(value), expected="a list of {id, start, end}")
        return ()
    found = (_read_document(row, f"{field}[{index}]", item, length) for index, item in enumerate(value))
    return tuple(document for document in found if document)


def _read_document(row: FileRow, field: str, item: Any, length: int) -> Document | None:
    if not isinstance(item, dict) or not isinstance(item.get("id"), str) or not item["id"]:
        row.error("wrong type", field, seen=shorten(item), expected='{"id": "…", "start": …, "end": …}')
        return None
    start, end = item.get("start"), item.get("end")
    if is_integer(start) and start == end and 0 <= start <= length:
        return Document(item["id"], start, start)  # an empty document is a document
    pair = check_offsets(row, field, start, end, length, "characters")
    return Document(item["id"], *pair) if pair else None
