"""Tables of text, CSV and similar, with a header: `text`, `label` and optionally `id`, `query`, `rationale`.

The separator (comma, semicolon, tab or bar) is the one that cuts the header into most cells.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from rationalize.data.findings import FileRow, Findings, shorten
from rationalize.data.jsonl import build_examples, read_strictly, to_row
from rationalize.data.read_options import Fields, ReadOptions
from rationalize.data.rows import Tally, is_encodable, skip_mark
from rationalize.errors import DataError
from rationalize.files import to_json
from rationalize.types import Example

DELIMITERS = ",;\t|"
_OWN_COLUMNS = ("id", "text", "label", "query", "rationale", "shortcuts", "documents")
_JSON_COLUMNS = ("tokens", "shortcuts", "documents")


def read_table(path: Path, options: ReadOptions | None = None) -> Iterator[Example]:
    """Return an iterator over the examples of a .csv or .tsv file, reading as it goes."""
    return read_strictly(read_table_stream, path, options)


def read_table_stream(
    stream: BinaryIO, file: str, findings: Findings, tally: Tally, options: ReadOptions
) -> Iterator[Example]:
    """Return an iterator over the examples of an open table."""
    return build_examples(_read_rows(stream, file, findings, options.fields), Path(file).stem, tally, options)


def read_header(stream: BinaryIO, name: str) -> list[str]:
    """Return the cells of the first line; none if it is broken."""
    _, cells = next(_read_cells(stream, name), (1, []))
    return [cell.removeprefix("\ufeff") for cell in cells] if isinstance(cells, list) else []


def write_table(path: Path, examples: Iterable[Example], columns: Sequence[str] | None = None) -> None:
    """Write examples to a .csv file for `read_table`, which takes an empty cell for none. Not atomic by itself.

    Without `columns`, the examples are gone through twice: what they have must be known before the first is written.
    """
    columns = list(find_columns(examples)) if columns is None else columns
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for row in map(to_row, examples):
            cells = [row.get(name, "") for name in columns]
            try:
                writer.writerow(
                    [each if isinstance(each, str) else to_json(each, indent=None) for each in cells]
                )
            except UnicodeEncodeError:
                raise DataError(
                    f"example {row['id']!r}: half a surrogate pair in its row. Expected whole characters."
                ) from None


def find_columns(examples: Iterable[Example]) -> dict[str, set[type]]:
    """Find the columns for rows of examples, the usual ones first, and the types of their values."""
    used: dict[str, set[type]] = {}  # in the order of their first use
    for example in examples:
        for name, value in to_row(example).items():
            used.setdefault(name, set()).add(type(value))
    own = [name for name in _OWN_COLUMNS if name in used]
    return {name: used[name] for name in (*own, *used)}


def _read_cells(stream: BinaryIO, name: str) -> Iterator[tuple[int, list[str] | csv.Error]]:
    """Yield rows of cells, or what is wrong with their quoting, with the line each starts on."""
    csv.field_size_limit(1 << 30)  # the default refuses documents over 128 kB
    # Bytes that are no UTF-8 become lone surrogates, so that the row they are in can be named.
    text = io.TextIOWrapper(stream, encoding="utf-8", errors="surrogateescape", newline="")
    first = text.readline()
    reader = csv.reader(_chain(first, text), delimiter=_guess_delimiter(first, name), strict=True)
    while True:
        line = reader.line_num + 1
        try:
            yield line, next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield line, error


def _chain(first: str, rest: Iterable[str]) -> Iterator[str]:
    yield first
    yield from rest


def _guess_delimiter(header: str, name: str) -> str:
    """Return the separator that cuts the header into most cells; the usual one if several do."""
    usual = "\t" if name.endswith(".tsv") else ","

    def cells(sign: str) -> int:
        try:
            return len(next(csv.reader([header], delimiter=sign, strict=True), []))
        except csv.Error:
            return 0

    return str(max((usual, *DELIMITERS), key=cells))


def _read_rows(stream: BinaryIO, file: str, findings: Findings, fields: Fields) -> Iterator[FileRow]:
    if not skip_mark(stream, file, findings):
        return
    lines = _read_cells(stream, file)
    _, header = next(lines, (1, []))
    has_text = not isinstance(header, csv.Error) and (fields.text in header or "tokens" in header)
    if isinstance(header, csv.Error) or not has_text or len(set(header)) < len(header):
        setting = "data.fields.text"
        expected = f"column names, each once, {fields.text!r} among them, or another by {setting}"
        findings.error("wrong header", f"{file}:1", seen=shorten(header), expected=expected, setting=setting)
        return
    for line, cells in lines:
        if cells:
            row = FileRow(file, line, {}, findings)
            _fill(row, header, cells, fields)
            yield row


def _fill(row: FileRow, header: list[str], values: list[str] | csv.Error, fields: Fields) -> None:
    if isinstance(values, csv.Error):
        expected = 'cells with quotes inside written as "a ""quoted"" word"'
        row.error("broken quoting", "", seen=str(values), expected=expected)
    elif len(values) != len(header):
        row.error("wrong number of cells", "", seen=str(len(values)), expected=str(len(header)))
    elif not is_encodable("".join(values)):
        bad = next(value for value in values if not is_encodable(value))
        row.error("not UTF-8", header[values.index(bad)], seen=shorten(bad), expected="UTF-8 text")
    else:
        row.values = {name: _parse_cell(row, name, cell, fields) for name, cell in zip(header, values)}


def _parse_cell(row: FileRow, name: str, cell: str, fields: Fields) -> Any:
    """Return the text of a cell, parsed if it holds JSON; None for an empty one."""
    is_rationale = name == fields.rationale
    if not cell or not (name in _JSON_COLUMNS or (is_rationale and cell.lstrip().startswith("["))):
        return cell or None
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        if is_rationale:
            return cell  # words of the text may begin with a bracket
        row.error("not JSON", name, seen=shorten(cell), expected="a list such as [[0, 4], [9, 12]]")
        return None
