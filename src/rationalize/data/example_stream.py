"""Read texts to explain, one at a time, from files of any format or JSON Lines on standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from rationalize.data._open_source import open_source
from rationalize.data._remote_files import to_place
from rationalize.data.findings import Findings
from rationalize.data.jsonl import read_jsonl_stream
from rationalize.data.read_options import ReadOptions
from rationalize.data.rows import Tally
from rationalize.errors import DataError
from rationalize.types import Example

STANDARD_INPUT = Path("-")


def stream_examples(source: str | Path, options: ReadOptions, *, errors: str = "strict") -> Iterator[Example]:
    """Yield the rows of data files, the lines of a .txt file, or JSON Lines from standard input (`-`).

    Nothing of what was yielded is kept, so ids may come twice. Several files are all looked at before the first row
    is yielded. `errors`: `replace` puts � for what is not UTF-8 in a .txt file; `strict` refuses it.
    """
    place = to_place(source)
    findings = Findings(place, strict=True)
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
