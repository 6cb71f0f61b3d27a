"""An example as one line of bytes and back, for files of this package's own that nobody else reads."""

from __future__ import annotations

import json

from rationalize.types import Document, Example, Span


def to_line(example: Example) -> bytes:
    """Return an example as a line."""
    values = {
        "id": example.id,
        "text": example.text,
        "label": example.label,
        "query": example.query,
        "rationale": _list_spans(example.rationale),
        "documents": [[each.id, each.start, each.end] for each in example.documents],
        "shortcuts": _list_spans(example.shortcuts),
        "metadata": dict(example.metadata),
    }
    return json.dumps(values).encode("ascii") + b"\n"


def from_line(line: bytes) -> Example:
    """Return the example of a line."""
    row = json.loads(line)
    for name in ("rationale", "shortcuts"):
        row[name] = None if row[name] is None else tuple(Span(*each) for each in row[name])
    return Example(**{**row, "documents": tuple(Document(*each) for each in row["documents"])})


def _list_spans(spans: tuple[Span, ...] | None) -> list[list[int]] | None:
    return None if spans is None else [[span.start, span.end, span.group] for span in spans]
