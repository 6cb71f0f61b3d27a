"""Iterate over the members of an archive, with little of it in memory at a time."""

from __future__ import annotations

import gzip
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from rationalize.errors import DataError

CHUNK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Member:
    """One entry of an archive, as the archive describes it.

    Attributes:
        name: The name in the archive.
        kind: "file", "folder", or the name of another kind.
        size: Announced bytes.
        open: Opens the content.
    """

    name: str
    kind: str
    size: int
    open: Callable[[], IO[bytes]]


def read_members(archive: Path, max_bytes: int) -> Iterator[Member]:
    """Return an iterator over the members of a .tar.gz or .zip, each readable until the next is asked for."""
    with archive.open("rb") as file:
        start = file.read(64)
    if start.startswith(b"\x1f\x8b"):
        return _read_tar(archive, max_bytes)
    if start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _read_zip(archive)
    raise DataError(
        f"{archive}: neither a .tar.gz nor a .zip: it starts with {start[:24]!r}. "
        "If that looks like a web page, the address leads to a page about the archive."
    )


class _BoundedGzip(gzip.GzipFile):
    """A gzip stream with a limit on all bytes together and on each read.

    tarfile reads a header of any announced length into memory, so single reads are bounded as well.
    """

    def __init__(self, path: Path, limit: int) -> None:
        super().__init__(path, "rb")
        self._path = path
        self._limit = limit

    def read(self, size: int | None = -1) -> bytes:
        if size is None or not 0 <= size <= CHUNK_BYTES:
            raise tarfile.ReadError("a header has an impossible length")
        self._check(self.tell())
        return super().read(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        self._check(offset)
        return super().seek(offset, whence)

    def _check(self, offset: int) -> None:
        if offset > self._limit:
            raise make_limit_error(self._path, f"{self._limit:,} bytes", "limits.total_bytes")


def _read_tar(archive: Path, max_bytes: int) -> Iterator[Member]:
    with (
        _BoundedGzip(archive, max_bytes) as stream,
        tarfile.open(fileobj=stream, mode="r:", encoding="utf-8") as tar,
    ):
        while (info := tar.next()) is not None:
            yield Member(info.name, _name_tar_kind(info), info.size, _make_opener(tar, info))
            cast(Any, tar).members.clear()  # tarfile would remember every member
        stream.seek(cast(Any, tar).offset)
        # To the very end: gzip keeps its checksum there, and tarfile takes a broken header for the end.
        while rest := stream.read(CHUNK_BYTES):
            if rest.strip(b"\0"):
                raise tarfile.ReadError("a header is broken, or something follows the end")


def _make_opener(tar: tarfile.TarFile, info: tarfile.TarInfo) -> Callable[[], IO[bytes]]:
    return lambda: cast(IO[bytes], tar.extractfile(info))


def _name_tar_kind(info: tarfile.TarInfo) -> str:
    if info.issym():
        return "symbolic link"
    if info.islnk():
        return "hard link"
    if info.isdir():
        return "folder"
    return "file" if info.isreg() and not info.issparse() else "device or other special file"


def _read_zip(archive: Path) -> Iterator[Member]:
    with zipfile.ZipFile(archive) as file:
        for info in file.infolist():
            opener = cast(Callable[[], IO[bytes]], lambda info=info: file.open(info))
            yield Member(info.orig_filename, _name_zip_kind(info), info.file_size, opener)


def _name_zip_kind(info: zipfile.ZipInfo) -> str:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if info.flag_bits & 1:
        return "file under a password"
    if stat.S_ISLNK(kind):
        return "symbolic link"
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "device or other special file"
    return "folder" if info.is_dir() else "file"


def make_limit_error(archive: Path, limit: str, field: str) -> DataError:
    """Return the error for an archive that holds more than a limit."""
    return DataError(
        f"{archive}: the archive holds more than {limit}, the limit. Raise {field} if you trust it.",
        field=field,
    )
