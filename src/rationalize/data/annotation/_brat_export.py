"""Write texts and standoff annotations for brat."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from rationalize.data.annotation._exporting import ExportEntry, Exporter, NamedSpan, require_whole_characters
from rationalize.data.annotation._file_names import encode_name
from rationalize.data.annotation.annotation_file import ExportResult
from rationalize.data.annotation.import_options import ExportOptions
from rationalize.errors import ConfigError, DataError
from rationalize.files import MANIFEST, atomic_dir

_LINE = re.compile(r"[^\r\n]+")
_SPACE = re.compile(r"\s")


def save(path: Path, exporter: Exporter, entries: list[ExportEntry]) -> ExportResult:
    """Write a new folder with a sub-folder for each label; brat shows a model's marks as annotations, too."""
    options = exporter.options
    _check(path, options)
    with atomic_dir(path) as folder:
        for number, entry in enumerate(entries, start=1):
            place = _place(folder, entry, exporter, number)
            require_whole_characters(entry, entry.text)
            place.parent.mkdir(exist_ok=True)
            place.with_name(f"{place.name}.txt").write_bytes(entry.text.encode("utf-8"))
            if entry.spans is not None:
                lines = "".join(_lines(entry, exporter, utf16=options.offsets == "utf16"))
                place.with_name(f"{place.name}.ann").write_bytes(lines.encode("utf-8"))
            exporter.changes["queries left out"] += entry.query is not None
    return exporter.finish(len(entries))


def _check(path: Path, options: ExportOptions) -> None:
    for name in (options.rationale_name, options.shortcut_name):
        if _SPACE.search(name):
            raise ConfigError(
                f"rationale_name, shortcut_name: saw {name!r}, expected a name without spaces for brat."
            )
    if path.exists() and not (path.is_dir() and ((path / MANIFEST).is_file() or not any(path.iterdir()))):
        raise ConfigError(
            f"{path}: exists and was not written by rationalize (it has no {MANIFEST}), so it is not "
            "replaced. Choose another place or remove it yourself."
        )


def _place(folder: Path, entry: ExportEntry, exporter: Exporter, number: int) -> Path:
    """Return an entry's path without its ending: a folder for the label, a file named by the id."""
    name = encode_name(entry.id)
    if name is None:
        exporter.changes["ids too long for a file name, numbered instead"] += 1
        name = f"text {number}"
    if not entry.label:
        return folder / name
    label = encode_name(entry.label)
    if label is None:
        raise DataError(f"example {entry.id!r}: its label is too long for the name of a folder. Shorten it.")
    return folder / label.replace(".", "%2E") / name  # so that no folder is called like a text


def _lines(entry: ExportEntry, exporter: Exporter, *, utf16: bool) -> Iterator[str]:
    number = 0
    for span in entry.spans or ():
        pieces = _cut_at_line_breaks(span, utf16=utf16)
        if not pieces:
            exporter.changes["spans of nothing but line breaks left out"] += 1
            continue
        if (pieces[0][0], pieces[-1][1]) != (span.start, span.end):
            exporter.changes["line breaks at the edge of a span left out"] += 1
        number += 1
        offsets = ";".join(f"{start} {end}" for start, end, _ in pieces)
        quote = " ".join(text for _, _, text in pieces)
        yield f"T{number}\t{span.name} {offsets}\t{quote}\n"


def _cut_at_line_breaks(span: NamedSpan, *, utf16: bool) -> list[tuple[int, int, str]]:
    """Cut a span into its pieces on each line; an annotation may not cross a line end."""

    def count(text: str) -> int:
        return len(text.encode("utf-16-le")) // 2 if utf16 else len(text)

    pieces, at, read = [], span.start, 0
    for match in _LINE.finditer(span.quote):
        at += count(span.quote[read : match.start()])
        end = at + count(match.group())
        pieces.append((at, end, match.group()))
        at, read = end, match.end()
    return pieces
