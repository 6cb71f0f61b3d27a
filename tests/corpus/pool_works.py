"""What test processes do with a chunk; in a module of its own, since they import it."""

from __future__ import annotations

import errno
import os
import signal
from dataclasses import dataclass
from pathlib import Path

from rationalize.corpus._chunk import Chunk
from rationalize.errors import DataError


@dataclass(frozen=True)
class Note:
    """Writes down who did which chunk; a fatal one ends the process, as often as it is given."""

    folder: Path
    fatal: dict[int, int]

    def __call__(self, chunk: Chunk) -> None:
        tries = self.folder / f"tries-{chunk.number}"
        with tries.open("a") as file:
            file.write("x")
        if len(tries.read_text()) <= self.fatal.get(chunk.number, 0):
            os.kill(os.getpid(), signal.SIGKILL)
        with (self.folder / f"done-{chunk.number}").open("a") as file:
            file.write(f"{os.getpid()}\n")


@dataclass(frozen=True)
class Complain:
    """Raises at a chunk: what the input is to blame for, the disk, or a bug."""

    at: int
    what: str

    def __call__(self, chunk: Chunk) -> None:
        if chunk.number == self.at:
            raise {
                "input": DataError("row 3 is odd", field="out"),
                "disk": OSError(errno.ENOSPC, "No space left on device", "part-1"),
                "bug": ZeroDivisionError("oops"),
            }[self.what]
