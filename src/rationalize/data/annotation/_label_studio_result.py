"""The results of one Label Studio annotation: regions with labels, and a choice for the whole text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rationalize.data.annotation._tasks import Mark
from rationalize.data.annotation._values import read_label, read_list, read_name, read_object
from rationalize.data.annotation.import_options import ImportOptions
from rationalize.data.findings import FileRow, shorten

_REGIONS = ("labels", "hypertextlabels")


def read_result(
    row: FileRow, annotation: Mapping[str, Any], place: str, options: ImportOptions
) -> tuple[str | None, tuple[Mark, ...]]:
    """Return the class and the marks of one annotation."""
    label: str | None = None
    marks: list[Mark] = []
    for index, result in enumerate(read_list(row, annotation, "result", f"{place}.")):
        where = f"{place}.result[{index}]"
        if not isinstance(result, dict):
            row.error("wrong type", where, seen=shorten(result), expected="an object")
            continue
        kind, source = result.get("type"), result.get("from_name")
        value = read_object(row, result, "value", f"{where}.")
        if kind in _REGIONS:
            if options.span_field in (None, source):
                marks += read_region(row, value, f"{where}.value")
        elif choice_name(result) is not None:
            if options.label_field in (None, source):
                label = read_label(row, value.get("choices"), f"{where}.value.choices")
        else:
            row.findings.note(
                f"results of another type: {kind}" + (" on a region" if kind == "choices" else "")
            )
    return label, tuple(marks)


def choice_name(result: Any) -> str | None:
    """Return the control of a choice for the whole text; None for any other result."""
    if not isinstance(result, dict) or result.get("type") != "choices":
        return None
    value = result.get("value")
    return None if isinstance(value, dict) and "start" in value else str(result.get("from_name"))


def read_region(row: FileRow, value: Mapping[str, Any], place: str) -> list[Mark]:
    """Return a region's marks, one for each of its labels."""
    names = value.get("labels") or value.get("hypertextlabels") or [None]
    if not isinstance(names, list):
        row.error("wrong type", f"{place}.labels", seen=shorten(names), expected="a list of names")
        return []
    start, end = value.get("start"), value.get("end")
    overall = value.get("globalOffsets")
    if isinstance(overall, dict) and type(start) is not int:  # paths into a page instead of offsets
        start, end = overall.get("start"), overall.get("end")
    quote = value.get("text")
    quote = quote if isinstance(quote, str) else None
    return [Mark(read_name(name), start, end, place, quote) for name in names]
