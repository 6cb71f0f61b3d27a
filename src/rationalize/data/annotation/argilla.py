"""Argilla: records with `fields`, people's `responses` and models' `suggestions`, nested or flattened.

A span question's answer is a list of `{"start", "end", "label"}`, a label question's is a name. Its browser side
counts UTF-16 units, its Python side code points, and the file carries no text to check either by.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rationalize.data.annotation._argilla_shape import ArgillaResponse, list_responses, nest
from rationalize.data.annotation._exporting import (
    ExportEntry,
    Exporter,
    JsonRow,
    save_list,
)
from rationalize.data.annotation._records import matches, read_records
from rationalize.data.annotation._tasks import AnnotatedText, Answer, Mark
from rationalize.data.annotation._values import (
    as_list,
    read_id,
    read_label,
    read_name,
    read_object,
    read_string,
    read_text,
)
from rationalize.data.annotation.annotation_file import ExportResult, Head
from rationalize.data.annotation.import_options import Counting, ImportOptions
from rationalize.data.annotation.tool_format import Format
from rationalize.data.findings import FileRow, Findings, shorten
from rationalize.errors import ConfigError

NOBODY = "00000000-0000-0000-0000-000000000000"
"""The user of what is written here; Argilla puts its own in that place when records are logged."""
_SPANS, _CLASS = "rationale", "label"


def recognize(source: Path | Head) -> bool:
    """Return whether it is Argilla's, nested or flattened."""
    return matches(source, _is_record)


def _is_record(record: Head) -> bool:
    nested = isinstance(record.get("fields"), dict)
    answered = any(name in record for name in ("responses", "suggestions", "_server_id"))
    flat = any(name.endswith((".responses", ".suggestion")) for name in record)
    return (nested and answered) or flat


def _read_texts(path: Path, options: ImportOptions, findings: Findings) -> Iterator[AnnotatedText]:
    """Read records as `to_json`, `to_list` or `to_dict` export them. Suggestions are not read: they are a model's."""
    rows = list(read_records(path, findings))
    for row in rows:
        row.values = nest(row.values)
    answers = [list_responses(row) if row.fine else [] for row in rows]
    questions = _sort_questions(answers, options, path)
    for row, given in zip(rows, answers):
        yield _read_record(row, given, questions, options)


def _sort_questions(
    answers: Iterable[list[ArgillaResponse]], options: ImportOptions, path: Path
) -> dict[str, str]:
    """Find the questions that ask for spans and for a class; an empty list shows neither."""
    kinds: dict[str, set[str]] = {}
    for given in answers:
        for response in given:
            kinds.setdefault(response.question, set()).add(_kind(response.value))
    sorted_ = {
        name: "spans" if "spans" in found or found == {"empty"} else "class" for name, found in kinds.items()
    }
    classes = [name for name, kind in sorted_.items() if kind == "class"]
    if options.label_field is None and len(classes) > 1:
        known = ", ".join(sorted(classes))
        raise ConfigError(
            f"label_field: {path} has several questions ({known}), expected the name of one of them.",
            field="data.fields.label",
        )
    return sorted_


def _kind(value: Any) -> str:
    if isinstance(value, list) and (not value or isinstance(value[0], dict)):
        return "spans" if value else "empty"
    return "class"


def _read_record(
    row: FileRow, given: list[ArgillaResponse], questions: Mapping[str, str], options: ImportOptions
) -> AnnotatedText:
    fields, metadata = read_object(row, row.values, "fields"), read_object(row, row.values, "metadata")
    text = read_text(row, fields, options.text_field, "fields.") if row.fine else ""
    found = AnnotatedText(
        row,
        read_id(row, row.values.get("id"), row.values.get("external_id")),
        text,
        read_string(row, fields, options.query_field, "fields."),
        read_label(row, metadata.get("label"), "metadata.label"),
    )
    for response in given:
        if response.status in ("discarded", "draft"):
            row.findings.note(f"responses left out, as they are {response.status}")
            continue
        counting: Counting | None = "code_points" if response.user == NOBODY else None
        if questions[response.question] == "spans":
            if options.span_field in (None, response.question):
                marks = _read_marks(row, response)
                found.answers.append(Answer(row, response.user, None, marks, counting))
        elif options.label_field in (None, response.question):
            label = read_label(row, response.value, response.place)
            found.answers.append(Answer(row, response.user, label))
    return found


def _read_marks(row: FileRow, response: ArgillaResponse) -> tuple[Mark, ...]:
    marks = []
    if not isinstance(response.value, list):
        row.error("wrong type", response.place, seen=shorten(response.value), expected="a list of spans")
    for index, span in enumerate(as_list(response.value)):
        place = f"{response.place}[{index}]"
        if isinstance(span, dict):
            marks.append(Mark(read_name(span.get("label")), span.get("start"), span.get("end"), place))
        else:
            row.error("wrong type", place, seen=shorten(span), expected='{"start": …, "end": …, "label": …}')
    return tuple(marks)


def _save(path: Path, exporter: Exporter, entries: list[ExportEntry]) -> ExportResult:
    """Write records for `from_json`: people's marks as responses, a model's as suggestions with score and agent."""
    save_list(path, ((entry, _record(entry)) for entry in entries))
    return exporter.finish(len(entries))


def _record(entry: ExportEntry) -> JsonRow:
    fields = {"text": entry.text} | ({"query": entry.query} if entry.query is not None else {})
    metadata: dict[str, str] = {}
    responses: dict[str, object] = {}
    suggestions: dict[str, object] = {}
    if entry.spans is None:
        metadata |= {"label": entry.label} if entry.label is not None else {}
    else:
        spans = [{"start": span.start, "end": span.end, "label": span.name} for span in entry.spans]
        values = {_SPANS: spans} | ({_CLASS: entry.label} if entry.label is not None else {})
        if entry.model_version is None:
            responses = {name: [{"value": value, "user_id": NOBODY}] for name, value in values.items()}
        else:
            scores = {_CLASS: entry.score}
            suggestions = {
                name: {"value": value, "score": scores.get(name), "agent": entry.model_version}
                for name, value in values.items()
            }
    record = {"id": entry.id, "fields": fields, "metadata": metadata}
    return record | {"suggestions": suggestions, "responses": responses, "vectors": {}}


FORMAT = Format("argilla", "Argilla", recognize, _read_texts, _save, reads="utf16")
