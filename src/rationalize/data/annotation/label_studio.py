"""Label Studio: JSON tasks with people's `annotations` and models' `predictions`; also the flat JSON_MIN export."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from rationalize.data.annotation import _label_studio_min
from rationalize.data.annotation._exporting import (
    ExportEntry,
    Exporter,
    JsonRow,
    save_list,
)
from rationalize.data.annotation._label_studio_result import choice_name, read_result
from rationalize.data.annotation._records import matches, read_records
from rationalize.data.annotation._tasks import UNNAMED, AnnotatedText, Answer, keep_last
from rationalize.data.annotation._values import (
    read_id,
    read_label,
    read_list,
    read_object,
    read_string,
    read_text,
)
from rationalize.data.annotation.annotation_file import ExportResult, Head
from rationalize.data.annotation.import_options import EXPORT, ExportOptions, ImportOptions
from rationalize.data.annotation.tool_format import Format
from rationalize.data.findings import FileRow, Findings, shorten
from rationalize.errors import ConfigError

_SPANS, _CLASS, _TEXT = "rationale", "label", "text"


def recognize(source: Path | Head) -> bool:
    """Return whether it is Label Studio's, in either of its JSON exports."""
    return matches(source, lambda record: _is_task(record) or _label_studio_min.is_record(record))


def labeling_config(labels: Iterable[str], options: ExportOptions = EXPORT, *, query: bool = False) -> str:
    """Return the labeling interface that fits what is written: spans, one class, and the query above the text."""
    header = '  <Header value="$query"/>\n' if query else ""
    choices = "".join(f"    <Choice value={quoteattr(label)}/>\n" for label in labels)
    names = (options.rationale_name, options.shortcut_name)
    spans = "".join(f"    <Label value={quoteattr(name)}/>\n" for name in names)
    return (
        f'<View>\n{header}  <Labels name="{_SPANS}" toName="{_TEXT}">\n{spans}  </Labels>\n'
        f'  <Text name="{_TEXT}" value="$text"/>\n'
        f'  <Choices name="{_CLASS}" toName="{_TEXT}" choice="single">\n{choices}  </Choices>\n</View>\n'
    )


def _is_task(record: Head) -> bool:
    lists = ("annotations", "completions", "predictions")
    return isinstance(record.get("data"), dict) and any(isinstance(record.get(name), list) for name in lists)


def _read_texts(path: Path, options: ImportOptions, findings: Findings) -> Iterable[AnnotatedText]:
    """Read an export (JSON or JSON_MIN). Predictions are not read: they are a model's, not people's."""
    flat = matches(path, _label_studio_min.is_record)
    return (_label_studio_min.read_texts if flat else _read_tasks)(path, options, findings)


def _read_tasks(path: Path, options: ImportOptions, findings: Findings) -> Iterator[AnnotatedText]:
    rows = list(read_records(path, findings))
    _require_one_choice(rows, options, path)
    for row in rows:
        yield _read_task(row, options)


def _require_one_choice(rows: Iterable[FileRow], options: ImportOptions, path: Path) -> None:
    names = {choice_name(result) for row in rows for result in _list_results(row.values)} - {None}
    if options.label_field is None and len(names) > 1:
        known = ", ".join(sorted(map(str, names)))
        raise ConfigError(
            f"label_field: {path} has several choices ({known}), expected the name of one of them.",
            field="data.fields.label",
        )


def _list_results(task: Mapping[str, Any]) -> Iterator[Any]:
    annotations = task.get("annotations")
    for annotation in annotations if isinstance(annotations, list) else ():
        results = annotation.get("result") if isinstance(annotation, dict) else None
        yield from results if isinstance(results, list) else ()


def _read_task(row: FileRow, options: ImportOptions) -> AnnotatedText:
    data = read_object(row, row.values, "data")
    text = read_text(row, data, options.text_field, "data.") if row.fine else ""
    found = AnnotatedText(
        row,
        read_id(row, data.get("example_id"), data.get("id"), row.values.get("id")),
        text,
        read_string(row, data, options.query_field, "data."),
        read_label(row, data.get("label"), "data.label"),
    )
    field = (
        "completions" if "annotations" not in row.values and "completions" in row.values else "annotations"
    )
    answers = []
    for index, annotation in enumerate(read_list(row, row.values, field)):
        place = f"{field}[{index}]"
        if not isinstance(annotation, dict):
            row.error("wrong type", place, seen=shorten(annotation), expected="an object")
        elif annotation.get("was_cancelled") or annotation.get("skipped"):
            row.findings.note("annotations left out, as they were cancelled")
        else:
            label, marks = read_result(row, annotation, place, options)
            answers.append(Answer(row, name_person(annotation.get("completed_by")), label, marks))
    found.answers, dropped = keep_last(answers)
    row.findings.note("annotations left out, as the same person annotated the task again", dropped)
    return found


def name_person(value: Any) -> str:
    """Who made an annotation: an email, a user's number, or nobody in particular."""
    if isinstance(value, dict):
        value = value.get("email") or value.get("id")
    return UNNAMED if value is None or value == "" else str(value)


def _save(path: Path, exporter: Exporter, entries: list[ExportEntry]) -> ExportResult:
    """Write tasks: with annotations, to be annotated if nobody marked the text, or with a model's predictions."""
    save_list(path, ((entry, _task(entry)) for entry in entries))
    return exporter.finish(len(entries))


def _task(entry: ExportEntry) -> JsonRow:
    data: dict[str, object] = {"text": entry.text, "example_id": entry.id}
    if entry.query is not None:
        data["query"] = entry.query
    if entry.spans is None:
        return {"data": data | ({"label": entry.label} if entry.label is not None else {}), "annotations": []}
    result = list(_result(entry))
    if entry.model_version is None:
        return {"data": data, "annotations": [{"result": result, "was_cancelled": False}]}
    prediction = {"model_version": entry.model_version, "score": entry.score, "result": result}
    return {"data": data, "predictions": [prediction]}


def _result(entry: ExportEntry) -> Iterator[dict[str, object]]:
    for number, span in enumerate(entry.spans or (), start=1):
        value = {"start": span.start, "end": span.end, "text": span.quote, "labels": [span.name]}
        yield {"id": f"s{number}", "from_name": _SPANS, "to_name": _TEXT, "type": "labels", "value": value}
    if entry.label is not None:
        choice = {"choices": [entry.label]}
        yield {"id": "class", "from_name": _CLASS, "to_name": _TEXT, "type": "choices", "value": choice}


FORMAT = Format("label_studio", "Label Studio", recognize, _read_texts, _save)
