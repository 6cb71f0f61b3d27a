"""Label Studio's JSON_MIN export: one flat record for each annotation, controls as fields beside the task's data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rationalize.data.annotation._label_studio_result import read_region
from rationalize.data.annotation._records import read_records
from rationalize.data.annotation._tasks import UNNAMED, AnnotatedText, Answer, Mark, gather, keep_last
from rationalize.data.annotation._values import read_id, read_label, read_string, read_text
from rationalize.data.annotation.annotation_file import Head
from rationalize.data.annotation.import_options import ImportOptions
from rationalize.data.findings import FileRow, Findings
from rationalize.errors import ConfigError

_OWN = ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement")


def is_record(record: Head) -> bool:
    """Return whether it is a record of that export."""
    return "annotation_id" in record and "annotator" in record and "data" not in record


def read_texts(path: Path, options: ImportOptions, findings: Findings) -> list[AnnotatedText]:
    """Read the texts; several records of a task are by several people."""
    rows = list(read_records(path, findings))
    label_field = options.label_field or _find_choice(rows, options, path)
    found = gather(_read_record(row, options, label_field) for row in rows)
    for text in found:
        text.answers, dropped = keep_last(text.answers)
        findings.note("annotations left out, as the same person annotated the task again", dropped)
        text.id = read_id(text.row, text.row.values.get("example_id"), text.id)
    return found


def _find_choice(rows: Iterable[FileRow], options: ImportOptions, path: Path) -> str | None:
    """Find the one field with a class. Controls come after the task's data and id, before the annotator."""
    names: dict[str, None] = {}
    for row in rows:
        fields = list(row.values)
        if "annotator" not in fields:
            continue
        first = fields.index("id") + 1 if "id" in fields else 0
        for name in fields[first : fields.index("annotator")]:
            if _is_class(row.values[name]) and name not in (*_OWN, options.text_field, options.query_field):
                names[name] = None
    if len(names) > 1:
        known = ", ".join(sorted(names))
        raise ConfigError(
            f"label_field: {path} has several candidates ({known}), expected the name of one.",
            field="data.fields.label",
        )
    return next(iter(names), None)


def _is_class(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, dict) and "choices" in value)


def _read_record(row: FileRow, options: ImportOptions, label_field: str | None) -> AnnotatedText:
    values = row.values
    text = read_text(row, values, options.text_field) if row.fine else ""
    found = AnnotatedText(
        row, read_id(row, values.get("id")), text, read_string(row, values, options.query_field)
    )
    if values.get("annotation_id") is None:
        return found  # a task without annotation
    chosen = values.get(label_field) if label_field else None
    chosen = chosen.get("choices") if isinstance(chosen, dict) else chosen
    label = read_label(row, chosen, label_field or "")
    annotator = values.get("annotator")
    person = UNNAMED if annotator is None else str(annotator)
    found.answers = [Answer(row, person, label, tuple(_read_marks(row, options)))]
    return found


def _read_marks(row: FileRow, options: ImportOptions) -> Iterator[Mark]:
    for name, value in row.values.items():
        if name in _OWN or options.span_field not in (None, name) or not isinstance(value, list):
            continue
        for index, region in enumerate(value):
            if isinstance(region, dict) and ("labels" in region or "hypertextlabels" in region):
                yield from read_region(row, region, f"{name}[{index}]")
