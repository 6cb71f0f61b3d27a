"""JSON Lines: `{"text", "label"}` and optionally `id`, `query`, `rationale`, `shortcuts`, `documents`.

Other fields that hold a string, a number or a truth value are metadata.

Spans are `[start, end]` or `[start, end, group]`, in code points, end-exclusive, or quote words that stand in the
text once. A text may be a list of `tokens`; its rationale is a list of 0 and 1, or several people's lists.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from rationalize.data._token_masks import read_masks
from rationalize.data.data_files import Files
from rationalize.data.fields import (
    FIELDS,
    read_documents,
    read_id,
    read_label,
    read_metadata,
    read_optional_string,
    read_rationale,
    read_spans,
    read_text,
)
from rationalize.data.findings import FileRow, Findings
from rationalize.data.read_options import ReadOptions
from rationalize.data.rows import Tally, keep_good, read_json_rows
from rationalize.errors import DataError
from rationalize.files import JsonObject, atomic_file, json_line
from rationalize.types import Example, Span

EVIDENCES = "evidences"
"""ERASER's data sets on the Hugging Face hub give gold as pieces of the text in a column of this name."""
ReadStream = Callable[[BinaryIO, str, Findings, Tally, ReadOptions], Iterator[Example]]
"""Reads an open file; the string is its name in messages."""


def read_jsonl(path: Path, options: ReadOptions | None = None) -> Iterator[Example]:
    """Yield the examples of a JSON Lines file, reading as it goes."""
    return read_strictly(read_jsonl_stream, path, options)


def read_strictly(read: ReadStream, path: Path, options: ReadOptions | None = None) -> Iterator[Example]:
    """Yield the examples of a file by its reader; the first problem is an error."""
    findings = Findings(path, strict=True)
    with Files(path.parent, path.parent).open(path.name) as stream:
        yield from read(stream, str(path), findings, Tally(), options or ReadOptions())


def read_jsonl_stream(
    stream: BinaryIO, file: str, findings: Findings, tally: Tally, options: ReadOptions
) -> Iterator[Example]:
    """Return an iterator over the examples of an open JSON Lines file."""
    return build_examples(read_json_rows(stream, file, findings), Path(file).stem, tally, options)


def build_examples(
    rows: Iterable[FileRow], stem: str, tally: Tally, options: ReadOptions
) -> Iterator[Example]:
    """Return an iterator over the examples in rows; one without an id gets the stem and its number."""
    return keep_good(rows, lambda row: _build_example(row, stem, tally, options), tally)


def _build_example(row: FileRow, stem: str, tally: Tally, options: ReadOptions) -> Example:
    names = options.fields
    text, tokens = read_text(row, names.text, empty=options.empty_texts)
    field = _find_rationale(row, names.rationale)
    if tokens is None:
        rationale = read_rationale(row, field, text)
    else:
        tally.tokenized += 1
        rationale = read_masks(row, field, tokens, options.annotators, tally.people)
    return Example(
        id=read_id(row, names.id, default=f"{stem}-{row.line}"),
        text=text,
        label=read_label(row, names.label),
        query=read_optional_string(row, names.query),
        rationale=rationale,
        documents=read_documents(row, "documents", len(text)),
        shortcuts=read_spans(row, "shortcuts", text),
        metadata=read_metadata(row, names.list_names()),
    )


def _find_rationale(row: FileRow, field: str) -> str:
    """Return the field with the gold; rows without it may have `evidences`, ERASER's pieces of text."""
    given = row.values.get(EVIDENCES)
    quotes = isinstance(given, list) and all(isinstance(quote, str) for quote in given)
    return EVIDENCES if quotes and field not in row.values else field


def write_jsonl(path: Path, examples: Iterable[Example]) -> None:
    """Write examples to a file that `read_jsonl` reads back unchanged."""
    with atomic_file(path) as file:
        for example in examples:
            file.write(encode_row(to_row(example), example).decode("utf-8"))


def encode_row(row: Mapping[str, object], example: Example) -> bytes:
    """Return a row of a JSON Lines file, ready to be written."""
    try:
        return json_line(row).encode("utf-8")
    except UnicodeEncodeError as error:
        raise DataError(
            f"example {example.id!r}: half a surrogate pair at character {error.start} of its row. "
            "Expected whole characters; mend the text."
        ) from error


def to_row(example: Example) -> JsonObject:
    """Convert an example to a JSON Lines row, without unknown fields."""
    row: JsonObject = {"id": example.id, "text": example.text}
    if example.label is not None:
        row["label"] = example.label
    if example.query is not None:
        row["query"] = example.query
    if example.rationale is not None:
        row["rationale"] = [_to_list(span) for span in example.rationale]
    if example.shortcuts is not None:
        row["shortcuts"] = [_to_list(span) for span in example.shortcuts]
    if example.documents:
        row["documents"] = [{"id": doc.id, "start": doc.start, "end": doc.end} for doc in example.documents]
    return row | {name: value for name, value in example.metadata.items() if name not in FIELDS}


def hash_texts(examples: Iterable[Example], *, errors: str) -> str:
    """Return the SHA-256 of ids, texts and queries; `errors` is what to do with half a surrogate pair."""
    total = hashlib.sha256()
    for each in examples:
        total.update(json_line([each.id, each.text, each.query]).encode("utf-8", errors))
    return total.hexdigest()


def _to_list(span: Span) -> list[int]:
    return [span.start, span.end, span.group] if span.group else [span.start, span.end]
