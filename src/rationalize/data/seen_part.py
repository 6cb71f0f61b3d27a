"""The part of an example that training and scores depend on, as bytes to hash."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rationalize.files import json_line
from rationalize.types import Example, Span


def write_seen(example: Example) -> bytes:
    """Return the example as a line of JSON, without its metadata, which nothing reads.

    Field by field: `dataclasses.asdict` copies everything, and took most of the time of a comparison's check.
    """
    row: dict[str, Any] = {
        "id": example.id,
        "text": example.text,
        "label": example.label,
        "query": example.query,
        "rationale": _write_spans(example.rationale),
        "documents": [{"id": each.id, "start": each.start, "end": each.end} for each in example.documents],
        "shortcuts": _write_spans(example.shortcuts),
    }
    return json_line(row).encode()


def _write_spans(spans: Iterable[Span] | None) -> list[dict[str, int]] | None:
    if spans is None:
        return None
    return [{"start": span.start, "end": span.end, "group": span.group} for span in spans]
