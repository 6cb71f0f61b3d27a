"""Convert disk errors to one sentence with the path and the cause."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rationalize.errors import DataError

MOST_CHARACTERS = 300  # of a path: one that is refused for its length is not shown whole


def make_disk_error(error: OSError, path: Path, then: str) -> DataError:
    """Return an error with the path, the cause and the state that things are left in."""
    where = str(error.filename or path)
    short = where if len(where) <= MOST_CHARACTERS else f"{where[:MOST_CHARACTERS]}…"
    return DataError(f"{short}: {error.strerror or error}. {then}")


@contextmanager
def convert_disk_errors(path: Path, then: str = "Nothing was left half done.") -> Iterator[None]:
    """Turn the disk's errors into a DataError.

    Args:
        path: Named if the error itself names none.
        then: How things are left.
    """
    try:
        yield
    except OSError as error:
        raise make_disk_error(error, path, then) from error
