"""Read texts to explain, one at a time, from files of any format or JSON Lines on standard input."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from rationalize.data._open_source import open_source
from rationalize.data._remote_files import to_place
from rationalize.data.data_files import open_files
from rationalize.data.findings import BadRows, Findings, Problem
from rationalize.data.jsonl import read_jsonl_stream
from rationalize.data.read_options import ReadOptions
from rationalize.data.rows import Tally
from rationalize.errors import DataError, RationalizeError
from rationalize.types import Example

STANDARD_INPUT = Path("-")


OnBadRow = Callable[[Problem], None]


def stream_examples(
    source: str | Path,
    options: ReadOptions,
    *,
    errors: str = "strict",
    on_bad_row: OnBadRow | None = None,
) -> Iterator[Example]:
    """Yield the rows of data files, the lines of a .txt file, or JSON Lines from standard input (`-`).

    Nothing of what was yielded is kept, so ids may come twice. Several files are all looked at before the first row
    is yielded. `errors`: `replace` puts � for what is not UTF-8 in a .txt file; `strict` refuses it. A row that cannot
    be read is an error, or given to `on_bad_row` and left out.
    """
    place = to_place(source)
    findings = Findings(place, strict=True) if on_bad_row is None else BadRows(place, on_bad_row)
    if place == STANDARD_INPUT:
        tally = Tally("nothing")
        yield from read_jsonl_stream(sys.stdin.buffer, "standard input", findings, tally, options)
    elif isinstance(place, Path) and place.suffix == ".txt":
        yield from _read_lines(place, errors)
    else:
        with open_source(place, findings, options) as opened:
            opened.require_readable()
            for split in opened.split_files:
                yield from opened.examples(split, Tally("nothing"))


def _read_lines(path: Path, errors: str) -> Iterator[Example]:
    try:
        with path.open(encoding="utf-8", errors=errors) as lines:
            for number, line in enumerate(lines, 1):
                yield Example(str(number), line.rstrip("\n"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else f"not UTF-8: {error.reason}"
        raise DataError(f"{path}: cannot be read: {reason}.") from None


def estimate_rows(source: str | Path) -> int | None:
    """Count the rows of local files roughly: by lines, or as a Parquet file says; None if that cannot be told."""
    place = to_place(source)
    if not isinstance(place, Path) or place == STANDARD_INPUT:
        return None
    paths = [place] if place.is_file() else _list_files(place)
    counts = [_count_file(path) for path in paths]
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None


def _list_files(place: Path) -> list[Path]:
    try:
        with open_files(place) as (files, only):
            names = files.split_files() if only is None else only
            return [files.folder / name for name in names] if files.shown == files.folder else []
    except RationalizeError:
        return []  # the reading itself says what is wrong


def _count_file(path: Path) -> int | None:
    if path.suffix == ".parquet":
        try:
            from pyarrow.parquet import read_metadata

            return int(read_metadata(path).num_rows)
        except (ImportError, OSError, ValueError):
            return None
    if path.suffix not in (".jsonl", ".txt", ".csv", ".tsv"):
        return None
    try:
        with path.open("rb") as stream:
            lines = sum(block.count(b"\n") for block in iter(lambda: stream.read(1 << 20), b""))
    except OSError:
        return None
    return max(1, lines - (path.suffix in (".csv", ".tsv")))
