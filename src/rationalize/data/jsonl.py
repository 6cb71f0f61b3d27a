"""JSON Lines: `{"text", "label"}` and optionally `id`, `query`, `rationale`, `shortcuts`, `documents`.

Spans are `[start, end]` or `[start, end, group]`, in code points, end-exclusive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from rationalize.data.data_files import Files
from rationalize.data.fields import documents_of, id_of, label_of, optional_string, spans_of, text_of
from rationalize.data.findings import FileRow, Findings
from rationalize.data.rows import Tally, json_rows, keep_good
from rationalize.errors import DataError
from rationalize.files import json_line
from rationalize.types import Example, Span


def read_jsonl(path: Path, *, text_field: str = "text", label_field: str = "label") -> Iterator[Example]:
    """The examples of a JSON Lines file, read as they are asked for."""
    findings = Findings(path, strict=True)
    with Files(path.parent, path.parent).open(path.name) as stream:
        yield from jsonl_examples(stream, str(path), findings, Tally(), text_field, label_field)


def jsonl_examples(
    stream: BinaryIO, file: str, findings: Findings, tally: Tally, text_field: str, label_field: str
) -> Iterator[Example]:
    """The examples of an open JSON Lines file."""
    stem = Path(file).stem
    rows = json_rows(stream, file, findings)
    return keep_good(rows, lambda row: plain_example(row, stem, text_field, label_field), tally)


def plain_example(row: FileRow, stem: str, text_field: str, label_field: str) -> Example:
    """The example in a row that holds the text itself; a row without an id is named by file and line."""
    text = text_of(row, text_field)
    return Example(
        id=id_of(row, "id", default=f"{stem}-{row.line}"),
        text=text,
        label=label_of(row, label_field),
        query=optional_string(row, "query"),
        rationale=spans_of(row, "rationale", len(text)),
        documents=documents_of(row, "documents", len(text)),
        shortcuts=spans_of(row, "shortcuts", len(text)),
    )


def write_jsonl(path: Path, examples: Iterable[Example]) -> None:
    """Write examples to a file that `read_jsonl` gives back unchanged. Not atomic by itself."""
    with path.open("wb") as file:
        for example in examples:
            file.write(encode_row(to_row(example), example))


def encode_row(row: dict[str, Any], example: Example) -> bytes:
    """A row of a JSON Lines file, ready to be written."""
    try:
        return json_line(row).encode("utf-8")
    except UnicodeEncodeError as error:
        raise DataError(
            f"example {example.id!r}: half a surrogate pair at character {error.start} of its row. "
            "Expected whole characters; mend the text."
        ) from error


def to_row(example: Example) -> dict[str, Any]:
    """An example as a JSON Lines row; what is unknown is left out."""
    row: dict[str, Any] = {"id": example.id, "text": example.text}
    if example.label is not None:
        row["label"] = example.label
    if example.query is not None:
        row["query"] = example.query
    if example.rationale is not None:
        row["rationale"] = [_span(span) for span in example.rationale]
    if example.shortcuts is not None:
        row["shortcuts"] = [_span(span) for span in example.shortcuts]
    if example.documents:
        row["documents"] = [{"id": doc.id, "start": doc.start, "end": doc.end} for doc in example.documents]
    return row


def _span(span: Span) -> list[int]:
    return [span.start, span.end, span.group] if span.group else [span.start, span.end]
