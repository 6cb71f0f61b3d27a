"""Convert disk errors to one sentence with the path and the cause."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rationalize.errors import DataError, describe_os_error


def make_disk_error(error: OSError, path: Path, then: str) -> DataError:
    """Return an error with the path, the cause and the state that things are left in."""
    if error.filename is None:
        error.filename = str(path)
    return DataError(f"{describe_os_error(error)} {then}")


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
