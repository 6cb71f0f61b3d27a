"""An example as one line of bytes and back, for files of this package's own that nobody else reads."""

from __future__ import annotations

import json

from rationalize.types import Document, Example, Span

_read_line = json.JSONDecoder().raw_decode  # `json.loads` looks at every line's encoding and ends first


def to_line(example: Example) -> bytes:
    """Return an example as a line."""
    values = (
        example.id,
        example.text,
        example.label,
        example.query,
        _list_spans(example.rationale),
        [[each.id, each.start, each.end] for each in example.documents],
        _list_spans(example.shortcuts),
        dict(example.metadata),
    )
    return json.dumps(values).encode("ascii") + b"\n"


def from_line(line: bytes) -> Example:
    """Return the example of a line."""
    (id, text, label, query, rationale, documents, shortcuts, metadata), _ = _read_line(line.decode("ascii"))
    return Example(
        id,
        text,
        label,
        query,
        None if rationale is None else tuple(Span(*each) for each in rationale),
        tuple(Document(*each) for each in documents) if documents else (),
        None if shortcuts is None else tuple(Span(*each) for each in shortcuts),
        metadata,
    )


def _list_spans(spans: tuple[Span, ...] | None) -> list[list[int]] | None:
    return None if spans is None else [[span.start, span.end, span.group] for span in spans]
