"""Read finished rationales: JSON Lines written by `rationalize explain` or `rationalize evaluate`."""

from __future__ import annotations

from pathlib import Path

from rationalize.data.data_files import Files
from rationalize.data.fields import read_id, read_label, read_optional_string, read_spans, read_text, require
from rationalize.data.findings import FileRow, Findings
from rationalize.data.rows import Tally, keep_good, read_json_rows
from rationalize.errors import DataError
from rationalize.types import Example, Explanation

Predictions = dict[str, Example]
"""By id: the text with a model's label and rationale instead of people's."""


def read_predictions(path: Path) -> Predictions:
    """Read the predictions in a file; raise DataError at the first bad row."""
    with Files(path.parent, path.parent).open(path.name) as stream:
        rows = read_json_rows(stream, str(path), Findings(path, strict=True))
        found = {each.id: each for each in keep_good(rows, _read_prediction, Tally())}
    if not found:
        raise DataError(
            f"{path}: no rows. Expected JSON Lines written by `rationalize explain` or `rationalize evaluate`."
        )
    return found


def _read_prediction(row: FileRow) -> Example:
    for field in ("label", "spans"):
        if require(row, field) is None and row.fine:
            row.error("missing value", field, seen="null", expected="a model's prediction")
    text, _ = read_text(row, "text")
    return Example(
        read_id(row, "id"),
        text,
        read_label(row, "label"),
        query=read_optional_string(row, "query"),
        rationale=read_spans(row, "spans", text),
    )


def to_prediction(explanation: Explanation) -> Example:
    """Turn an explanation into a prediction."""
    return Example(
        explanation.id or "",
        explanation.text,
        explanation.label,
        query=explanation.query,
        rationale=explanation.spans,
    )
