"""Rationales that were made before: JSON Lines as `rationalize explain` and `rationalize evaluate` write them."""

from __future__ import annotations

from pathlib import Path

from rationalize.data.data_files import Files
from rationalize.data.fields import id_of, label_of, optional_string, require, spans_of, text_of
from rationalize.data.findings import FileRow, Findings
from rationalize.data.rows import Tally, json_rows, keep_good
from rationalize.errors import DataError
from rationalize.types import Example, Explanation

Predictions = dict[str, Example]
"""By id: the text with the label and the rationale that a model gave it, instead of those of people."""


def read_predictions(path: Path) -> Predictions:
    """The predictions in a file; DataError at the first row that is none."""
    with Files(path.parent, path.parent).open(path.name) as stream:
        rows = json_rows(stream, str(path), Findings(path, strict=True))
        found = {each.id: each for each in keep_good(rows, _prediction, Tally())}
    if not found:
        raise DataError(
            f"{path}: no rows. Expected JSON Lines written by `rationalize explain` or `rationalize evaluate`."
        )
    return found


def _prediction(row: FileRow) -> Example:
    for field in ("label", "spans"):
        if require(row, field) is None and row.fine:
            row.error("missing value", field, seen="null", expected="what a model gave")
    text, _ = text_of(row, "text")
    return Example(
        id_of(row, "id"),
        text,
        label_of(row, "label"),
        query=optional_string(row, "query"),
        rationale=spans_of(row, "spans", text),
    )


def to_prediction(explanation: Explanation) -> Example:
    """What a model says of a text, as a row of predictions has it."""
    return Example(
        explanation.id or "",
        explanation.text,
        explanation.label,
        query=explanation.query,
        rationale=explanation.spans,
    )
