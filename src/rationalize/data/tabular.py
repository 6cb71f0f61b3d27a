"""CSV and TSV with a header: `text`, `label` and optionally `id`, `query`, `rationale` (a JSON list)."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from rationalize.data.data_files import Files
from rationalize.data.findings import FileRow, Findings, brief
from rationalize.data.jsonl import plain_example
from rationalize.data.rows import Tally, encodable, keep_good, skip_mark
from rationalize.types import Example

_JSON_COLUMNS = ("rationale", "shortcuts", "documents")


def read_table(path: Path, *, text_field: str = "text", label_field: str = "label") -> Iterator[Example]:
    """The examples of a .csv or .tsv file, read as they are asked for."""
    findings = Findings(path, strict=True)
    with Files(path.parent, path.parent).open(path.name) as stream:
        yield from table_examples(stream, str(path), findings, Tally(), text_field, label_field)


def table_examples(
    stream: BinaryIO, file: str, findings: Findings, tally: Tally, text_field: str, label_field: str
) -> Iterator[Example]:
    """The examples of an open table; tabs separate the cells if its name ends in .tsv."""
    stem = Path(file).stem
    rows = _rows(stream, file, findings, text_field)
    return keep_good(rows, lambda row: plain_example(row, stem, text_field, label_field), tally)


def header_of(stream: BinaryIO, name: str) -> list[str]:
    """The cells of the first line; none if it is broken."""
    _, cells = next(_cells(stream, name), (1, []))
    return [cell.removeprefix("\ufeff") for cell in cells] if isinstance(cells, list) else []


def _cells(stream: BinaryIO, name: str) -> Iterator[tuple[int, list[str] | csv.Error]]:
    """Rows of cells, or what is wrong with their quoting, with the line each starts on."""
    csv.field_size_limit(1 << 30)  # the default refuses documents over 128 kB
    # Bytes that are no UTF-8 become lone surrogates, so that the row they are in can be named.
    text = io.TextIOWrapper(stream, encoding="utf-8", errors="surrogateescape", newline="")
    reader = csv.reader(text, delimiter="\t" if name.endswith(".tsv") else ",", strict=True)
    while True:
        line = reader.line_num + 1
        try:
            yield line, next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield line, error


def _rows(stream: BinaryIO, file: str, findings: Findings, text_field: str) -> Iterator[FileRow]:
    if not skip_mark(stream, file, findings):
        return
    lines = _cells(stream, file)
    _, header = next(lines, (1, []))
    if isinstance(header, csv.Error) or text_field not in header or len(set(header)) < len(header):
        expected = f"column names, each once, {text_field!r} among them"
        findings.error("wrong header", f"{file}:1", seen=brief(header), expected=expected)
        return
    for line, cells in lines:
        if cells:
            row = FileRow(file, line, {}, findings)
            _fill(row, header, cells)
            yield row


def _fill(row: FileRow, header: list[str], values: list[str] | csv.Error) -> None:
    if isinstance(values, csv.Error):
        expected = 'cells with quotes inside written as "a ""quoted"" word"'
        row.error("broken quoting", "", seen=str(values), expected=expected)
    elif len(values) != len(header):
        row.error("wrong number of cells", "", seen=str(len(values)), expected=str(len(header)))
    elif not encodable("".join(values)):
        bad = next(value for value in values if not encodable(value))
        row.error("not UTF-8", header[values.index(bad)], seen=brief(bad), expected="UTF-8 text")
    else:
        row.values = {name: _value(row, name, value) for name, value in zip(header, values)}


def _value(row: FileRow, name: str, cell: str) -> Any:
    """The text of a cell; None for an empty one; parsed for columns that hold JSON."""
    if not cell or name not in _JSON_COLUMNS:
        return cell or None
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        row.error("not JSON", name, seen=brief(cell), expected="a list such as [[0, 4], [9, 12]]")
        return None
