"""Read texts to explain, one at a time, from a file of any format or JSON Lines on standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from rationalize.data._open_source import open_source
from rationalize.data.findings import Findings
from rationalize.data.jsonl import read_jsonl_stream
from rationalize.data.read_options import ReadOptions
from rationalize.data.rows import Tally
from rationalize.errors import DataError
from rationalize.types import Example

STANDARD_INPUT = Path("-")


def stream_examples(path: Path, options: ReadOptions, *, errors: str = "strict") -> Iterator[Example]:
    """Yield the rows of a data file, the lines of a .txt file, or JSON Lines from standard input (`-`).

    `errors`: `replace` puts � for what is not UTF-8 in a .txt file; `strict` refuses it.
    """
    if path == STANDARD_INPUT:
        findings = Findings(path, strict=True)
        yield from read_jsonl_stream(sys.stdin.buffer, "standard input", findings, Tally(), options)
    elif path.suffix == ".txt":
        yield from _read_lines(path, errors)
    else:
        with open_source(path, Findings(path, strict=True), options) as source:
            for split in source.split_files:
                yield from source.examples(split, Tally())


def _read_lines(path: Path, errors: str) -> Iterator[Example]:
    try:
        with path.open(encoding="utf-8", errors=errors) as lines:
            for number, line in enumerate(lines, 1):
                yield Example(str(number), line.rstrip("\n"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else f"not UTF-8: {error.reason}"
        raise DataError(f"{path}: cannot be read: {reason}.") from None
