"""Prodigy: JSON Lines of tasks with `spans`, `accept` or `label`, and an `answer`.

Several rows may be about one input (`_input_hash`): by several people, or several questions to the same one. Rows
that were rejected or ignored are left out and counted; rows without an answer were not annotated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rationalize.data.annotation._exporting import (
    ExportEntry,
    Exporter,
    JsonRow,
    save_lines,
)
from rationalize.data.annotation._records import matches, read_records
from rationalize.data.annotation._tasks import UNNAMED, AnnotatedText, Answer, Mark
from rationalize.data.annotation._values import (
    read_id,
    read_label,
    read_list,
    read_name,
    read_object,
    read_string,
    read_text,
)
from rationalize.data.annotation.annotation_file import ExportResult, Head
from rationalize.data.annotation.import_options import ImportOptions
from rationalize.data.annotation.tool_format import Format
from rationalize.data.findings import FileRow, Findings, shorten

_ANSWERS = ("accept", "reject", "ignore")


def recognize(source: Path | Head) -> bool:
    """Return whether it is Prodigy's: a text with an answer, hashes, or spans that are objects."""
    return matches(source, _is_task)


def _is_task(row: Head) -> bool:
    spans = row.get("spans")
    has_spans = isinstance(spans, list) and all(isinstance(span, dict) for span in spans)
    has_hash = "_input_hash" in row or "_task_hash" in row
    return isinstance(row.get("text"), str) and (has_spans or has_hash or row.get("answer") in _ANSWERS)


def _read_texts(path: Path, options: ImportOptions, findings: Findings) -> Iterable[AnnotatedText]:
    found: dict[object, AnnotatedText] = {}
    for row in read_records(path, findings):
        answer = row.values.get("answer")
        if answer in ("reject", "ignore"):
            findings.note(f"rows left out, as their answer is {answer}")
            continue
        if answer not in ("accept", None):
            row.error("unknown answer", "answer", seen=shorten(answer), expected=", ".join(_ANSWERS))
        text, key = _read_row(row, options)
        first = found.setdefault(key, text)
        if first is not text:
            _add(first, text)
    return _tell_apart(found.values(), findings)


def _read_row(row: FileRow, options: ImportOptions) -> tuple[AnnotatedText, object]:
    values = row.values
    meta = read_object(row, values, "meta")
    text = read_text(row, values, options.text_field or "text") if row.fine else ""
    given = options.query_field in values
    query = read_string(row, values if given else meta, options.query_field)
    found = AnnotatedText(row, read_id(row, meta.get("id")), text, query)
    label = _read_class(row, options)
    if values.get("answer") is None:
        found.label = label
        row.findings.note("rows without an answer, read as not annotated")
    else:
        person = values.get("_annotator_id") or values.get("_session_id") or UNNAMED
        found.answers = [Answer(row, str(person), label, _read_marks(row, options))]
    hashed = values.get("_input_hash")
    return found, hashed if type(hashed) is int else (found.id if meta.get("id") is not None else None, text)


def _read_class(row: FileRow, options: ImportOptions) -> str | None:
    field = options.label_field or ("accept" if row.values.get("accept") is not None else "label")
    return read_label(row, row.values.get(field), field)


def _read_marks(row: FileRow, options: ImportOptions) -> tuple[Mark, ...] | None:
    field = options.span_field or "spans"
    if row.values.get(field) is None:
        return None
    tokens = read_list(row, row.values, "tokens")
    marks = []
    for index, span in enumerate(read_list(row, row.values, field)):
        place = f"{field}[{index}]"
        if isinstance(span, dict):
            name, quote = read_name(span.get("label")), _quote(span, tokens)
            marks.append(Mark(name, span.get("start"), span.get("end"), place, quote))
        else:
            row.error("wrong type", place, seen=shorten(span), expected='{"start": …, "end": …, "label": …}')
    return tuple(marks)


def _quote(span: Mapping[str, Any], tokens: list[Any]) -> str | None:
    """Return the span's own text, or that of its tokens; the two differ in white space only."""
    if isinstance(span.get("text"), str):
        return str(span["text"])
    first, last = span.get("token_start"), span.get("token_end")
    if type(first) is not int or type(last) is not int or not 0 <= first <= last < len(tokens):
        return None
    texts = [token.get("text") if isinstance(token, dict) else None for token in tokens[first : last + 1]]
    return "".join(text for text in texts if text) if all(isinstance(text, str) for text in texts) else None


def _add(first: AnnotatedText, later: AnnotatedText) -> None:
    """Join a further row on the same input: another person's answer, or more from the same one."""
    if first.text != later.text:
        expected = f"the text of {first.row.place}, which has the same _input_hash"
        later.row.error("texts differ", "text", seen=shorten(later.text), expected=expected)
    first.label = first.label if first.label is not None else later.label
    first.answers += later.answers


def _tell_apart(texts: Iterable[AnnotatedText], findings: Findings) -> Iterator[AnnotatedText]:
    """Nothing makes `meta.id` the id of one text; those that share one get their line as well."""
    seen: set[str] = set()
    for text in texts:
        if text.id in seen:
            findings.note("texts that share their meta id with another")
            text.id = f"{text.id}-{text.row.line}"
        seen.add(text.id)
        yield text


def _save(path: Path, exporter: Exporter, entries: list[ExportEntry]) -> ExportResult:
    """Write tasks for `prodigy db-in`: people's are accepted, a model's are to be answered."""
    save_lines(path, ((entry, _row(entry)) for entry in entries))
    return exporter.finish(len(entries))


def _row(entry: ExportEntry) -> JsonRow:
    meta: dict[str, object] = {"id": entry.id}
    row: dict[str, object] = {"text": entry.text}
    if entry.query is not None:
        meta["query"] = entry.query
    if entry.label is not None:
        row["label"] = entry.label
    if entry.spans is not None:
        row["spans"] = [
            {"start": span.start, "end": span.end, "label": span.name, "text": span.quote}
            for span in entry.spans
        ]
    if entry.model_version is not None:
        meta |= {"model": entry.model_version, "score": entry.score}
    elif entry.spans is not None:
        return row | {"meta": meta, "answer": "accept"}
    return row | {"meta": meta}


FORMAT = Format("prodigy", "Prodigy", recognize, _read_texts, _save)
