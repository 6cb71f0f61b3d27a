"""JSON Lines: `{"text", "label"}` and optionally `id`, `query`, `rationale`, `shortcuts`, `documents`.

Spans are `[start, end]` or `[start, end, group]`, in code points, end-exclusive, or quote words that stand in the
text once. A text may be a list of `tokens`; its rationale is a list of 0 and 1, or several people's lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from rationalize.data._token_masks import spans_of_masks
from rationalize.data.data_files import Files
from rationalize.data.fields import (
    documents_of,
    id_of,
    label_of,
    optional_string,
    rationale_of,
    spans_of,
    text_of,
)
from rationalize.data.findings import FileRow, Findings
from rationalize.data.read_options import ReadOptions
from rationalize.data.rows import Tally, json_rows, keep_good
from rationalize.errors import DataError
from rationalize.files import atomic_file, json_line
from rationalize.types import Example, Span


def read_jsonl(path: Path, options: ReadOptions | None = None) -> Iterator[Example]:
    """The examples of a JSON Lines file, read as they are asked for."""
    findings = Findings(path, strict=True)
    with Files(path.parent, path.parent).open(path.name) as stream:
        yield from jsonl_examples(stream, str(path), findings, Tally(), options or ReadOptions())


def jsonl_examples(
    stream: BinaryIO, file: str, findings: Findings, tally: Tally, options: ReadOptions
) -> Iterator[Example]:
    """The examples of an open JSON Lines file."""
    return plain_examples(json_rows(stream, file, findings), Path(file).stem, tally, options)


def plain_examples(
    rows: Iterable[FileRow], stem: str, tally: Tally, options: ReadOptions
) -> Iterator[Example]:
    """The examples in rows that hold the text themselves; one without an id is named by the stem and its number."""
    return keep_good(rows, lambda row: _example(row, stem, tally, options), tally)


def _example(row: FileRow, stem: str, tally: Tally, options: ReadOptions) -> Example:
    names = options.fields
    text, tokens = text_of(row, names.text, empty=options.empty_texts)
    if tokens is None:
        rationale = rationale_of(row, names.rationale, text)
    else:
        tally.tokenized += 1
        rationale = spans_of_masks(row, names.rationale, tokens, options.annotators)
    return Example(
        id=id_of(row, names.id, default=f"{stem}-{row.line}"),
        text=text,
        label=label_of(row, names.label),
        query=optional_string(row, names.query),
        rationale=rationale,
        documents=documents_of(row, "documents", len(text)),
        shortcuts=spans_of(row, "shortcuts", text),
    )


def write_jsonl(path: Path, examples: Iterable[Example]) -> None:
    """Write examples to a file that `read_jsonl` gives back unchanged."""
    with atomic_file(path) as file:
        for example in examples:
            file.write(encode_row(to_row(example), example).decode("utf-8"))


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
