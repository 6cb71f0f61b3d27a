"""brat: a folder of texts (`.txt`) with standoff annotations (`.ann`) beside them.

A sub-folder is a label, or an annotator of the same texts. Pieces of one annotation that only line breaks divide are
one span (brat itself cuts there); pieces further apart are several.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from rationalize.data.annotation._brat_export import save
from rationalize.data.annotation._file_names import decode_name
from rationalize.data.annotation._offsets import Utf16
from rationalize.data.annotation._tasks import UNNAMED, AnnotatedText, Answer, Mark, gather
from rationalize.data.annotation._values import read_text
from rationalize.data.annotation.annotation_file import Head
from rationalize.data.annotation.import_options import ImportOptions
from rationalize.data.annotation.tool_format import Format
from rationalize.data.findings import FileRow, Findings, shorten
from rationalize.errors import DataError

_TEXT_BOUND = re.compile(r"T\S*\t(\S+) (\d{1,15} \d{1,15}(?:;\d{1,15} \d{1,15})*)(?:\t(.*))?", re.DOTALL)
_LINE_BREAKS = re.compile(r"[\r\n]*")


def recognize(source: Path | Head) -> bool:
    """Return whether it is a folder in which some `.ann` file stands beside a `.txt` file."""
    if not isinstance(source, Path) or not source.is_dir():
        return False
    return any(path.with_suffix(".txt").is_file() for path in source.rglob("*.ann"))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a text lies: its file, the folder above it, its id."""

    file: Path
    folder: str
    id: str


def _read_texts(path: Path, options: ImportOptions, findings: Findings) -> Iterable[AnnotatedText]:
    """Read a folder; a text without an `.ann` file was not annotated."""
    if not path.is_dir():
        raise DataError(f"{path}: no such folder. Expected one with .txt and .ann files.")
    for lone in sorted(path.rglob("*.ann")):
        if not lone.with_suffix(".txt").is_file():
            expected = f"{lone.with_suffix('.txt').name} beside it"
            findings.error("no text for this annotation", str(lone), seen="no text", expected=expected)
    if options.folders == "annotators":
        places = [_place_by_annotator(path, file) for file in sorted(path.rglob("*.txt"))]
        return gather(_read_text(place, options, findings) for place in places)
    return (_read_text(place, options, findings) for place in _place_by_label(path))


def _place_by_annotator(root: Path, file: Path) -> _Place:
    inside = PurePosixPath(file.relative_to(root).as_posix()).with_suffix("")
    person = inside.parts[0] if len(inside.parts) > 1 else UNNAMED
    return _Place(file, person, "/".join(map(decode_name, inside.parts[1:] or inside.parts)))


def _place_by_label(root: Path) -> Iterator[_Place]:
    files = sorted(root.rglob("*.txt"))
    stems = [file.stem for file in files]
    unique = len(set(stems)) == len(stems)
    for file in files:
        parts = file.relative_to(root).with_suffix("").parts
        shown = parts[-1:] if unique else parts
        yield _Place(file, "/".join(map(decode_name, parts[:-1])), "/".join(map(decode_name, shown)))


def _read_text(place: _Place, options: ImportOptions, findings: Findings) -> AnnotatedText:
    notes = place.file.with_suffix(".ann")
    row = FileRow(str(place.file), 1, {}, findings)
    row.values = {"text": _decode(place.file, row)}
    text = read_text(row, row.values, "text") if row.fine else ""
    found = AnnotatedText(row, place.id, text)
    by_label = options.folders == "labels"
    label = place.folder if by_label and place.folder else None
    content = _decode(notes, row) if notes.is_file() else None
    if content is None or (not content.strip() and options.unmarked == "unknown"):
        found.label = label
        return found
    person = UNNAMED if by_label else place.folder
    found.answers = [Answer(row, person, label, ())]
    units = Utf16(text)
    for number, line in enumerate(content.split("\n"), start=1):
        if line.strip():
            own = FileRow(str(notes), number, {}, findings)
            marks = tuple(_read_line(own, line.removesuffix("\r"), text, units))
            found.answers.append(Answer(own, person, None, marks))
    return found


def _decode(file: Path, row: FileRow) -> str:
    try:
        return file.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        seen = f"byte 0x{error.object[error.start]:02x} at byte {error.start + 1} of {file.name}"
        row.error("not UTF-8", "", seen=seen, expected="UTF-8 text")
    except OSError as error:
        row.error("cannot be read", "", seen=str(error.strerror), expected="a readable file")
    return ""


def _read_line(row: FileRow, line: str, text: str, units: Utf16) -> Iterator[Mark]:
    if not line.startswith("T"):
        row.findings.note("annotations that are no spans (relations, events, notes)")
        return
    match = _TEXT_BOUND.fullmatch(line)
    if match is None:
        row.error(
            "not a text-bound annotation", "", seen=shorten(line), expected="T1<tab>Name 0 5<tab>the text"
        )
        return
    name, pairs, quote = match.groups()
    pieces = [(int(start), int(end)) for start, end in (pair.split(" ") for pair in pairs.split(";"))]
    identifier = line.split("\t", 1)[0]
    for start, end, part in _join(pieces, _split_quote(quote, pieces), text, units):
        yield Mark(name, start, end, identifier, part)


def _split_quote(quote: str | None, pieces: list[tuple[int, int]]) -> list[str | None]:
    """Return the part of the quote that belongs to each piece; brat joins them by single spaces."""
    if quote is None or len(pieces) == 1:
        return [quote] * len(pieces)
    units = Utf16(quote)
    sizes = [end - start for start, end in pieces]
    whole = sum(sizes) + len(sizes) - 1
    if whole not in (len(quote), units.length):
        return [None] * len(pieces)
    parts: list[str | None] = []
    at = 0
    for size in sizes:
        borders = (at, at + size)
        if whole != len(quote):
            first, last = units.to_code_points(at), units.to_code_points(at + size)
            borders = (first or 0, last or 0)
        parts.append(quote[slice(*borders)])
        at += size + 1
    return parts


def _join(
    pieces: list[tuple[int, int]], quotes: list[str | None], text: str, units: Utf16
) -> list[tuple[int, int, str | None]]:
    """Pieces that nothing but line breaks divide, by either way to count, as one."""
    joined: list[tuple[int, int, str | None]] = []
    for (start, end), quote in zip(pieces, quotes):
        before = joined[-1] if joined else None
        if before and _only_breaks_between(before[1], start, text, units):
            joined[-1] = (before[0], end, f"{before[2]} {quote}" if before[2] and quote else None)
        else:
            joined.append((start, end, quote))
    return joined


def _only_breaks_between(end: int, start: int, text: str, units: Utf16) -> bool:
    first, last = units.to_code_points(end), units.to_code_points(start)
    gaps = [(end, start)] if first is None or last is None else [(end, start), (first, last)]
    return any(_LINE_BREAKS.fullmatch(text, *gap) for gap in gaps)


FORMAT = Format("brat", "brat standoff", recognize, _read_texts, save)
