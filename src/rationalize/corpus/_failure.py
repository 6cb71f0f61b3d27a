"""What went wrong with a chunk elsewhere: sent back as it is, and raised here."""

from __future__ import annotations

import json
import traceback
from dataclasses import asdict, dataclass
from typing import Self

from rationalize.corpus._chunk import Chunk, Work
from rationalize.errors import DataError, RationalizeError
from rationalize.files import to_json


@dataclass(frozen=True, slots=True)
class ChunkFailure:
    """What went wrong in a process.

    Attributes:
        message: What to show.
        fields: Settings that mend it.
        expected: Whether it is an error of the user's input, not of the package.
        disk: Number and file of an error of the disk.
    """

    message: str
    fields: tuple[str, ...] = ()
    expected: bool = False
    disk: tuple[int, str | None] | None = None

    def to_json(self) -> str:
        """Return it as JSON."""
        return to_json(asdict(self), indent=None)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Rebuild it from what `to_json` returned."""
        row = json.loads(text)
        disk = None if row["disk"] is None else (row["disk"][0], row["disk"][1])
        return cls(row["message"], tuple(row["fields"]), row["expected"], disk)

    def to_error(self) -> Exception:
        """Return it as what it was."""
        if self.expected:
            return DataError(self.message, field=self.fields)
        if self.disk is not None:
            number, file = self.disk
            return OSError(number, self.message, file)
        return RuntimeError(f"a process failed:\n{self.message}")


def attempt(work: Work, chunk: Chunk) -> ChunkFailure | None:
    """Do a chunk; return what went wrong."""
    try:
        work(chunk)
    except RationalizeError as error:
        return ChunkFailure(str(error), error.fields, expected=True)
    except OSError as error:
        if error.errno is None:
            return ChunkFailure(traceback.format_exc())
        file = None if error.filename is None else str(error.filename)
        return ChunkFailure(error.strerror or str(error), disk=(error.errno, file))
    except Exception:
        return ChunkFailure(traceback.format_exc())
    return None
