"""What test actors do with a chunk; in a module of its own, since they import it."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass, field
from pathlib import Path

from rationalize.corpus._chunk import Chunk
from rationalize.corpus._explain_chunk import ExplainChunk


@dataclass(frozen=True)
class FatalChunk(ExplainChunk):
    """Explains, but some chunks end the process, as often as it is given."""

    tries: Path = Path()
    fatal: dict[int, int] = field(default_factory=dict)

    def __call__(self, chunk: Chunk) -> None:
        note = self.tries / f"tries-{chunk.number}"
        with note.open("a") as file:
            file.write("x")
        if len(note.read_text()) <= self.fatal.get(chunk.number, 0):
            os.kill(os.getpid(), signal.SIGKILL)
        super().__call__(chunk)
