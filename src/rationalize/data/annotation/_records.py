"""Records of JSON Lines and JSON files: lists of records, records by id, columns of values."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rationalize.data.annotation.annotation_file import Head
from rationalize.data.findings import FileRow, Findings, shorten
from rationalize.data.rows import is_encodable, read_json_rows
from rationalize.errors import DataError

_LINES = (".jsonl", ".ndjson", ".jl")
_HEAD = 1 << 16
# Names of objects inside one record, so that a lone record is not taken for a mapping of ids to records.
_PARTS = frozenset({"data", "fields", "metadata", "meta", "responses", "suggestions", "annotators"})


@dataclass(slots=True)
class RecordRow(FileRow):
    """A record of a file without lines, shown by its number and its id."""

    name: str = ""

    @property
    def place(self) -> str:
        """Where it is, `file: record 3 (id 17)`."""
        number = f"{self.file}: record {self.line}"
        return f"{number} (id {self.name})" if self.name else number


def read_records(path: Path, findings: Findings) -> Iterator[FileRow]:
    """Yield the records of a file: JSON Lines, a JSON array, a JSON object of records by id or of columns."""
    if not path.is_file():
        raise DataError(f"{path}: no such file. Expected an annotation tool's export.")
    if path.suffix.lower() in _LINES or _has_several_values(path):
        with path.open("rb") as stream:
            yield from read_json_rows(stream, str(path), findings)
        return
    value = _load(path, findings)
    if value is not None:
        yield from _number(_list_records(value), path, findings)


def first_record(source: Path | Head) -> Head | None:
    """Return the first record of a file, read no further than needed; None if there is none."""
    if not isinstance(source, Path):
        return source
    size, head = _HEAD, b""
    try:
        with source.open("rb") as stream:
            while more := stream.read(size):
                head, size = head + more, size * 3
                found = _peek(head.decode("utf-8-sig", "ignore"), lines=source.suffix.lower() in _LINES)
                if found is not None:
                    return found
    except OSError:
        return None
    return None


def matches(source: Path | Head, test: Callable[[Head], bool]) -> bool:
    """Return whether the first record of a file passes a test."""
    record = first_record(source)
    return isinstance(record, dict) and test(record)  # a file may hold anything


def _peek(head: str, *, lines: bool) -> Head | None:
    decoder = json.JSONDecoder()
    text = head.lstrip()
    try:
        if text.startswith("["):
            first, _ = decoder.raw_decode(text[1:].lstrip())
            return first if isinstance(first, dict) else None
        value, _ = decoder.raw_decode(text)
        return (
            next(iter(_list_records(value)), None)
            if not lines
            else value
            if isinstance(value, dict)
            else None
        )
    except (ValueError, RecursionError):
        return None if lines else _peek_by_id(text, decoder)


def _peek_by_id(text: str, decoder: json.JSONDecoder) -> Head | None:
    """Return the first record of an object of records that is not all there yet."""
    try:
        key, end = decoder.raw_decode(text[1:].lstrip())
        rest = text[1:].lstrip()[end:].lstrip()
        value, _ = decoder.raw_decode(rest.removeprefix(":").lstrip())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and key not in _PARTS else None


def _has_several_values(path: Path) -> bool:
    """Return whether a file is in fact JSON Lines: its first line is a record, and not the only one."""
    with path.open("rb") as stream:
        first, second = next(filter(bytes.strip, stream), b""), next(filter(bytes.strip, stream), b"")
    try:
        return isinstance(json.loads(first.decode("utf-8-sig")), dict) and bool(second)
    except (ValueError, RecursionError):
        return False


def _load(path: Path, findings: Findings) -> Any:
    try:
        return json.loads(path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        seen, place = f"byte 0x{error.object[error.start]:02x} at byte {error.start + 1}", str(path)
        findings.error("not UTF-8", place, seen=seen, expected="UTF-8 text; save it again in that encoding")
    except json.JSONDecodeError as error:
        place, seen = f"{path}:{error.lineno}", f"{error.msg} at column {error.colno}"
        findings.error("not JSON", place, seen=seen, expected="a JSON file; export it again")
    except RecursionError:
        findings.error("not JSON", str(path), seen="nesting too deep", expected="a list of records")
    return None


def _list_records(value: Any) -> Iterable[Any]:
    """Return the records of a list, of an object of columns, of an object of records by id; or the one record."""
    if not isinstance(value, dict):
        return value if isinstance(value, list) else [value]
    inside = list(value.values())
    if inside and all(isinstance(column, list) for column in inside) and len({*map(len, inside)}) == 1:
        return [dict(zip(value, row)) for row in zip(*inside)]
    if inside and all(isinstance(item, dict) for item in inside) and not _PARTS & set(value):
        return [{"id": key, **item} for key, item in value.items()]
    return [value]


def _number(records: Iterable[Any], path: Path, findings: Findings) -> Iterator[FileRow]:
    for number, record in enumerate(records, start=1):
        row = RecordRow(str(path), number, {}, findings)
        if not isinstance(record, dict):
            row.error("not an object", "", seen=shorten(record), expected="a record")
        else:
            row.values = record
            row.name = _name(record)
            if not is_encodable(json.dumps(record, ensure_ascii=False)):
                row.error(
                    "half a surrogate pair", "", seen=r"a lone \ud800-\udfff", expected="whole characters"
                )
        yield row


def _name(record: Mapping[str, Any]) -> str:
    found = next((record[key] for key in ("id", "post_id") if record.get(key) is not None), "")
    return str(found) if isinstance(found, str | int) else ""
