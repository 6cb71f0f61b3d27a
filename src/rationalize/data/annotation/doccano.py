"""doccano: JSON Lines (or a JSON array) of texts with spans in `label`, or `entities` and `cats`, or older fields.

Its browser side counts UTF-16 units, and the file carries no text to check them by.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rationalize.data.annotation._exporting import ExportEntry, Exporter, JsonRow, save_lines
from rationalize.data.annotation._records import matches, read_records
from rationalize.data.annotation._tasks import UNNAMED, AnnotatedText, Answer, Mark, gather
from rationalize.data.annotation._values import (
    read_id,
    read_label,
    read_list,
    read_name,
    read_string,
    read_text,
)
from rationalize.data.annotation.annotation_file import ExportResult, Head
from rationalize.data.annotation.import_options import Counting, ExportOptions, ImportOptions
from rationalize.data.annotation.tool_format import Format
from rationalize.data.findings import FileRow, Findings, shorten

_COLUMNS = ("entities", "label", "labels", "annotations")
_COUNTS = "offsets"  # a column of ours, which doccano keeps as metadata
_KNOWN: dict[object, Counting] = {"utf16": "utf16", "code_points": "code_points"}


def recognize(source: Path | Head) -> bool:
    """Return whether it is doccano's: a text, and a list of spans or classes."""
    if isinstance(source, Path) and source.is_dir():
        return False
    return matches(source, _is_row)


def _is_row(row: Head) -> bool:
    has_text = isinstance(row.get("text", row.get("data")), str)
    has_lists = any(isinstance(row.get(name), list) for name in (*_COLUMNS, "cats"))
    others = ("spans", "tokens", "annotation_id", "answer")
    return has_text and has_lists and not any(name in row for name in others)


def _read_texts(path: Path, options: ImportOptions, findings: Findings) -> Iterable[AnnotatedText]:
    """Read a file; or a folder with one file for each person, if `folders` is `annotators`."""
    if path.is_dir() and options.folders == "annotators":
        files = sorted(file for file in path.iterdir() if file.suffix in (".jsonl", ".json"))
        return gather(text for file in files for text in _read_file(file, options, findings, file.stem))
    return _read_file(path, options, findings, UNNAMED)


def _read_file(
    path: Path, options: ImportOptions, findings: Findings, annotator: str
) -> Iterator[AnnotatedText]:
    rows = list(read_records(path, findings))
    classes = {name for name in _COLUMNS for row in rows if _holds_classes(row.values.get(name))}
    for row in rows:
        yield _read_row(row, options, classes, annotator)


def _holds_classes(value: Any) -> bool:
    """Return whether a column holds class names, not spans; an empty list shows neither."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "start_offset" not in value[0]
    return isinstance(value, list) and bool(value) and not isinstance(value[0], list)


def _read_row(row: FileRow, options: ImportOptions, classes: set[str], annotator: str) -> AnnotatedText:
    values = row.values
    text_field = options.text_field or ("data" if "text" not in values and "data" in values else "text")
    text = read_text(row, values, text_field) if row.fine else ""
    label_field = options.label_field or _find_class(values, classes)
    columns = [name for name in _COLUMNS if name not in {*classes, label_field}]
    span_field = options.span_field or next(
        (name for name in columns if isinstance(values.get(name), list)), None
    )
    found = AnnotatedText(
        row, read_id(row, values.get("id")), text, read_string(row, values, options.query_field)
    )
    people: dict[str, list[Mark]] = {}
    if span_field is not None and values.get(span_field) is not None:
        spans = read_list(row, values, span_field)
        if spans or options.unmarked == "empty":
            people[annotator] = []
        people = _read_marks(row, span_field, spans, annotator) or people
    label = _read_class(row, values.get(label_field), label_field)
    named = values.get(_COUNTS)
    counting = _KNOWN.get(named) if isinstance(named, str) else None
    if people:
        # Which of several people chose the class is not in the file.
        found.label = label if len(people) > 1 else None
        own = None if len(people) > 1 else label
        found.answers = [Answer(row, name, own, tuple(marks), counting) for name, marks in people.items()]
    else:
        found.label = label
    return found


def _find_class(values: Head, classes: set[str]) -> str:
    """Find the column with the class: `label` if no other has it."""
    lists = [name for name in ("cats", *sorted(classes)) if name in values]
    return lists[0] if lists else "label" if not isinstance(values.get("label"), list) else "cats"


def _read_marks(row: FileRow, field: str, spans: Sequence[Any], annotator: str) -> dict[str, list[Mark]]:
    people: dict[str, list[Mark]] = {}
    for index, span in enumerate(spans):
        place = f"{field}[{index}]"
        if isinstance(span, list) and len(span) == 3:
            people.setdefault(annotator, []).append(Mark(read_name(span[2]), span[0], span[1], place))
        elif isinstance(span, dict) and "start_offset" in span:
            name = annotator if span.get("user") is None else str(span["user"])
            mark = Mark(read_name(span.get("label")), span["start_offset"], span.get("end_offset"), place)
            people.setdefault(name, []).append(mark)
        else:
            row.error("wrong type", place, seen=shorten(span), expected="[start, end, name]")
    return people


def _read_class(row: FileRow, value: Any, field: str) -> str | None:
    if isinstance(value, list) and all(isinstance(item, dict) for item in value):
        value = sorted({str(item.get("label")) for item in value})  # older exports: {"label": 2, "user": 1}
    return read_label(row, value, field)


def _save(path: Path, exporter: Exporter, entries: list[ExportEntry]) -> ExportResult:
    """Write texts that are already annotated; doccano shows a model's marks as annotations, too."""
    save_lines(path, ((entry, _row(entry, exporter.options)) for entry in entries))
    return exporter.finish(len(entries))


def _row(entry: ExportEntry, options: ExportOptions) -> JsonRow:
    row: dict[str, object] = {"id": entry.id, "text": entry.text}
    if entry.spans is not None:
        column = "label" if options.doccano_project == "spans" else "entities"
        row[column] = [[span.start, span.end, span.name] for span in entry.spans]
        row[_COUNTS] = options.offsets or "utf16"
    if entry.label is not None:
        row["cats"] = [entry.label]
    if entry.query is not None:
        row["query"] = entry.query
    if entry.model_version is not None:
        row["model_version"], row["score"] = entry.model_version, entry.score
    return row


FORMAT = Format("doccano", "doccano", recognize, _read_texts, _save, reads="utf16", writes="utf16")
