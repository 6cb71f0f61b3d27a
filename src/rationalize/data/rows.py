"""Rows of a file, not yet interpreted, and the one way from rows to examples."""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from io import BufferedReader
from typing import Any, BinaryIO, Literal

from rationalize.data._first_places import FirstPlaces
from rationalize.data.annotator_agreement import AgreementMeter
from rationalize.data.findings import FileRow, Findings, shorten
from rationalize.types import Example

_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(slots=True)
class Tally:
    """How many rows of a split were read, and where every row that was kept is.

    Attributes:
        remember: What to keep of the rows: ids, to find those that come twice, and places; ids alone; or nothing,
            for a stream without end.
        read: Rows that were read.
        kept: Rows that became examples.
        files: File of every row that was kept.
        lines: Line (or number of the item) of every row that was kept.
        items: Files whose rows are numbered as items, since they have no lines.
        first: Where each id was seen.
        fields: All fields that any row has.
        tokenized: Rows whose text came as tokens.
        annotators: Rows that each person annotated, where the file has names.
        people: What two people or more said about the same row.
    """

    remember: Literal["places", "ids", "nothing"] = "places"
    read: int = 0
    kept: int = 0
    files: list[str] = field(default_factory=list)
    lines: array[int] = field(default_factory=lambda: array("q"))
    items: set[str] = field(default_factory=set)
    fields: set[str] = field(default_factory=set)
    tokenized: int = 0
    first: FirstPlaces[tuple[str, int]] = field(default_factory=FirstPlaces)
    annotators: Counter[str] = field(default_factory=Counter)
    people: AgreementMeter = field(default_factory=AgreementMeter)

    def add_items(self, file: str, count: int) -> None:
        """Note the items of a file, all of which were kept."""
        self.kept += count
        self.items.add(file)
        self.files += [file] * count
        self.lines.extend(range(count))

    @property
    def rejected(self) -> int:
        """Rows that did not."""
        return self.read - self.kept


def keep_good(
    rows: Iterable[FileRow], build: Callable[[FileRow], Example], tally: Tally
) -> Iterator[Example]:
    """Yield the examples of all valid rows; an id may occur once, if the tally remembers it."""
    for row in rows:
        tally.read += 1
        tally.fields.update(row.values)
        example = build(row) if row.fine else None
        if example is None or not row.fine:
            continue
        if tally.remember != "nothing" and not _remember(row, example.id, tally):
            continue
        tally.kept += 1
        yield example


def _remember(row: FileRow, id: str, tally: Tally) -> bool:
    """Note a row that is kept; False, and an error, if its id is that of an earlier one."""
    file, line = tally.first.setdefault(id, (row.file, row.line))
    if (file, line) != (row.file, row.line):
        where = "item" if row.is_item else "line"
        where = f"{where} {line}" if file == row.file else f"{where} {line} of {file}"
        row.error("duplicate id", "id", seen=shorten(id), expected=f"an id that is not the one of {where}")
        return False
    if tally.remember == "ids":
        return True
    if row.is_item:
        tally.items.add(row.file)
    tally.files.append(row.file)
    tally.lines.append(row.line)
    return True


def skip_mark(stream: BinaryIO, file: str, findings: Findings) -> bool:
    """Step over a byte-order mark. False if the file is UTF-16 and cannot be read at all."""
    head = stream.peek(3)[:3] if isinstance(stream, BufferedReader) else stream.read(3)
    if head.startswith(_UTF16):
        findings.error("not UTF-8", file, seen="UTF-16", expected="UTF-8; save it again in that encoding")
        return False
    if head == _BOM:
        findings.warning("byte-order mark", file, seen="EF BB BF at the start", expected="UTF-8 without it")
    if isinstance(stream, BufferedReader):
        stream.read(len(_BOM) if head == _BOM else 0)  # a pipe can be peeked at, but not rewound
    elif head != _BOM:
        stream.seek(0)
    return True


def is_encodable(text: str) -> bool:
    """False for text with half a surrogate pair, which no UTF-8 file can hold and no tokenizer takes."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def read_json_rows(stream: BinaryIO, file: str, findings: Findings) -> Iterator[FileRow]:
    """Yield the rows of a JSON Lines file. Only line feeds end a line, so U+2028 and the like stay in the text."""
    if not skip_mark(stream, file, findings):
        return
    carriage_returns = 0
    for line, raw in enumerate(stream, start=1):
        carriage_returns += raw.endswith(b"\r\n")
        if raw.strip():
            yield _read_json_row(raw, FileRow(file, line, {}, findings))
        else:
            findings.warning("blank line", f"{file}:{line}", seen="nothing", expected="one row per line")
    if carriage_returns:
        seen = f"{carriage_returns} lines that end in CR LF"
        findings.warning("CRLF line ends", file, seen=seen, expected="LF alone")


def _read_json_row(raw: bytes, row: FileRow) -> FileRow:
    twice: list[str] = []
    # Looked for only where all problems are gathered: it makes reading slower.
    hook = None if row.findings.strict else partial(_note_twins, twice)
    try:
        value: Any = json.loads(raw.decode("utf-8"), object_pairs_hook=hook)
    except UnicodeDecodeError as error:
        seen = f"byte 0x{raw[error.start]:02x} at byte {error.start + 1} of the line"
        row.error("not UTF-8", "", seen=seen, expected="UTF-8 text")
        return row
    except (ValueError, RecursionError) as error:
        reason = "nesting too deep" if isinstance(error, RecursionError) else str(error)
        seen = f"{shorten(raw[:60].decode('utf-8', 'replace'))} ({reason})"
        row.error("not JSON", "", seen=seen, expected="one JSON object per line")
        return row
    if not isinstance(value, dict):
        row.error("not an object", "", seen=shorten(value), expected='a JSON object such as {"text": …}')
        return row
    if b"\\u" in raw and not is_encodable(json.dumps(value, ensure_ascii=False)):
        row.error("half a surrogate pair", "", seen=r"a lone \ud800-\udfff", expected="whole characters")
    for name in twice:
        row.warning("name twice in a row", name, seen="two values; the last one counts", expected="one")
    row.values = value
    return row


def _note_twins(twice: list[str], pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice += [name for name, times in counts.items() if times > 1]
    return found
