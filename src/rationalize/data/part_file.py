"""A file that is arriving: what is there so far, of which version of what address."""

from __future__ import annotations

import hashlib
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from rationalize.errors import DataError
from rationalize.files import read_json, take_lock, write_json

CHUNK_BYTES = 1 << 18


class PartFile:
    """The bytes of one address that have arrived so far, and which version of the file they belong to.

    Attributes:
        path: Where the bytes are.
        size: How many there are.
        version: What the server calls this version (ETag or Last-Modified); None: it cannot be continued.
        total: How many bytes the whole file has, if the server said so.
    """

    def __init__(self, path: Path, url: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.version: str | None = None
        self.total: int | None = None
        self._url = strip_secrets(url)
        self._state = path.with_name(path.name + ".json")
        self._mark = path.with_name(f".{path.name}.lock")
        self._lock = take_lock(self._mark)
        if self._lock is None:
            raise DataError(f"{path}: another process is downloading to it. Wait for it, or stop it.")
        self._file = path.open("a+b")
        self._recall()

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
        """Delete the file and all that is known about it."""
        self._state.unlink(missing_ok=True)
        self.path.unlink(missing_ok=True)
        self._mark.unlink(missing_ok=True)

    def _recall(self) -> None:
        try:
            state = read_json(self._state)
            version, total = state["version"], state["total"]
            known = state["url"] == self._url and isinstance(version, str) and isinstance(total, int | None)
        except (OSError, ValueError, KeyError, TypeError):
            known = False
        if not known:
            return self.begin(None, None)
        self.version, self.total = version, total
        self.size, self._hash = 0, hashlib.sha256()
        self._file.seek(0)
        while chunk := self._file.read(CHUNK_BYTES):
            self._hash.update(chunk)
            self.size += len(chunk)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self.size:
            self.remove()
        self._file.close()
        if self._lock is not None:
            self._lock.release()


def strip_secrets(url: str) -> str:
    """The address as it may be shown and recorded: without password and query, which can hold keys."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
