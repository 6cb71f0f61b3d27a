"""A partly downloaded file: its bytes so far, its address and version."""

from __future__ import annotations

import hashlib
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from rationalize.errors import DataError
from rationalize.files import make_folder, read_json, write_json
from rationalize.locks import take_lock

CHUNK_BYTES = 1 << 18


class PartFile:
    """The bytes of one address that have arrived so far, and which version of the file they belong to.

    It is removed at the end if it could not be continued: nothing arrived, or no version is known.

    Attributes:
        path: Where the bytes are.
        size: How many there are.
        version: The server's name for this version (ETag or Last-Modified); None: it cannot be continued.
        total: The size of the complete file, if known.
    """

    def __init__(self, path: Path, url: str) -> None:
        make_folder(path.parent)
        self.path = path
        self.size = 0
        self.version: str | None = None
        self.total: int | None = None
        self._url = strip_secrets(url)
        self._state = _place_state(path)
        self._mark = path.with_name(f".{path.name}.lock")
        lock = take_lock(self._mark)
        if lock is None:
            raise DataError(f"{path}: another process is downloading to it. Wait for it, or stop it.")
        self._closing = ExitStack()
        self._closing.callback(lock.release)
        try:
            self._file = self._closing.enter_context(path.open("a+b"))
            self._recall()
        except OSError:
            self.remove()
            self._close()
            raise

    @property
    def sha256(self) -> str:
        """SHA-256 of the bytes so far."""
        return self._hash.hexdigest()

    def begin(self, version: str | None, total: int | None) -> None:
        """Drop what is here and take down what comes next as this version."""
        self._file.truncate(0)
        self.size, self._hash = 0, hashlib.sha256()
        self.version, self.total = version, total
        write_json(self._state, {"url": self._url, "version": version, "total": total})

    def append(self, chunk: bytes) -> None:
        """Add bytes at the end."""
        self._file.write(chunk)
        self._file.flush()
        self._hash.update(chunk)
        self.size += len(chunk)

    def remove(self) -> None:
        """Delete the file and all that is known about it, as far as the disk lets it."""
        for path in (self._state, self.path, self._mark):
            with suppress(OSError):
                path.unlink(missing_ok=True)

    def _recall(self) -> None:
        try:
            state = read_json(self._state)
            version, total = state["version"], state["total"]
            known = state["url"] == self._url and isinstance(version, str) and isinstance(total, int | None)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            known = False
        if not known:
            return self.begin(None, None)
        self.version, self.total = version, total
        self.size, self._hash = 0, hashlib.sha256()
        self._file.seek(0)
        while chunk := self._file.read(CHUNK_BYTES):
            self._hash.update(chunk)
            self.size += len(chunk)

    def _close(self) -> None:
        with suppress(OSError):  # closing writes once more what a full disk refused
            self._closing.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self.size or self.version is None:
            self.remove()
        self._close()


def read_recorded_address(path: Path) -> str | None:
    """Return the address, without secrets, that a part file is being filled from; None if there is none."""
    try:
        return str(read_json(_place_state(path))["url"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _place_state(path: Path) -> Path:
    return path.with_name(path.name + ".json")


def strip_secrets(url: str) -> str:
    """Return the address as it may be shown and recorded: without password and query, which can hold keys."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # anything but a number there may be the start of a password
    except ValueError:
        return f"{url.partition(':')[0]}://…"
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
