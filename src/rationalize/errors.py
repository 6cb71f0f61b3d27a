"""Errors that a user's input can cause. Each message names the problem, the place, the value seen, the value
expected and a way out; the command line prints it without a traceback and exits with code 2."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rationalize.printable import make_printable


class RationalizeError(Exception):
    """A mistake that the user can fix.

    Attributes:
        fields: The arguments or settings that fix it, by their names in Python (`label_map`, `data.path`); the
            command line adds its own names for them.
    """

    def __init__(self, message: str = "", *, field: str | tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.fields = (field,) if isinstance(field, str) else field

    def __str__(self) -> str:
        return make_printable(super().__str__())  # it may quote data


def describe_os_error(error: OSError) -> str:
    """Describe what the operating system refused in one sentence: the path, shortened, and the cause."""
    cause = error.strerror or (str(error).strip().splitlines() or [type(error).__name__])[0]
    advice = _ADVICE.get(error.errno or 0, "")
    where = "" if error.filename is None else f"{_shorten_path(str(error.filename))}: "
    return make_printable(f"{where}{cause}.{advice}")


@contextmanager
def hear_refusals(path: Path) -> Iterator[None]:
    """Let a refusal of the disk be the OSError that it is, where a library in Rust only puts it into words."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        number = re.search(r"os error (\d+)", str(error))
        if number is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1])), str(path)) from error


_ADVICE = {
    errno.ENOSPC: " Free some space; finished work is kept.",
    errno.EDQUOT: " Free some space; finished work is kept.",
    errno.EROFS: " Choose another folder.",
    errno.EACCES: " Choose another path, or change its permissions.",
    errno.ENAMETOOLONG: " Choose a shorter name.",
    errno.EEXIST: " Expected a folder there, or nothing.",
    errno.ENOTDIR: " Expected a folder there, or nothing.",
    errno.EISDIR: " Expected a file there, or nothing.",
}
_SHOWN = 300
"""Characters of a path: one that is refused for its length is not shown whole."""


def _shorten_path(path: str) -> str:
    return path if len(path) <= _SHOWN else f"{path[:_SHOWN]}…"


class DataError(RationalizeError):
    """A data file, folder or archive that cannot be read as it stands."""


class ConfigError(RationalizeError):
    """A setting that is unknown, out of range, or does not fit the others."""


class EncoderError(RationalizeError):
    """An encoder or tokenizer that cannot be loaded or does not fit."""


class ModelFormatError(RationalizeError):
    """A saved model folder that is damaged, incomplete, or of another kind."""


class CheckpointError(RationalizeError):
    """A run that cannot be resumed from what is on disk."""


class BusyError(RationalizeError):
    """A folder that another process is writing to."""


class TrainingError(RationalizeError):
    """Training that had to stop, for instance because a loss was no longer a number."""
