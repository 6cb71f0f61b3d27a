"""Unpacking an archive from a stranger: plain files and folders inside one folder, or nothing at all.

An archive is judged by its content, not by its name. Links, devices, paths that lead elsewhere, members that
come twice, and more bytes or members than allowed are refused. File modes are never taken over.
"""

from __future__ import annotations

import errno
import gzip
import lzma
import shutil
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath
from typing import IO, Any, cast

from rationalize.errors import DataError

CHUNK_BYTES = 1 << 20
MAX_DEPTH = 32
# What the standard library raises on a damaged archive.
DAMAGE = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError),
    *(ValueError, LookupError, ArithmeticError, RuntimeError, OSError),
)


@dataclass(frozen=True, slots=True)
class Limits:
    """How much an archive may hold."""

    total_bytes: int = 8 * 2**30
    members: int = 1_000_000


@dataclass(frozen=True, slots=True)
class Contents:
    """What was unpacked.

    Attributes:
        files: Number of files written.
        total_bytes: Their size.
        skipped: Members left out because they are the litter of macOS (`__MACOSX`, `._name`, `.DS_Store`).
    """

    files: int
    total_bytes: int
    skipped: int


@dataclass(frozen=True, slots=True)
class _Member:
    name: str
    kind: str
    size: int
    open: Callable[[], IO[bytes]]


def unpack(archive: Path, folder: Path, limits: Limits | None = None) -> Contents:
    """Unpack a .tar.gz or .zip into an existing folder; a single top folder is stripped.

    Raises:
        DataError: If the archive is damaged, is of another kind, or holds what is refused. The folder may
            then hold some files: unpack into one that becomes visible only when complete.
    """
    limits = limits or Limits()
    staging = Path(tempfile.mkdtemp(dir=folder))
    with _damage_as_data_error(archive):
        contents = _write_all(archive, _members(archive, limits), staging, limits)
    if not contents.files:
        raise DataError(f"{archive}: the archive holds no files. Expected a data set.")
    entries = list(staging.iterdir())
    top = entries[0] if len(entries) == 1 and entries[0].is_dir() else staging
    for entry in top.iterdir():
        entry.replace(folder / entry.name)
    shutil.rmtree(staging)
    return contents


def _write_all(archive: Path, members: Iterator[_Member], folder: Path, limits: Limits) -> Contents:
    files = total_bytes = skipped = 0
    for number, member in enumerate(members, start=1):
        if number > limits.members:
            raise DataError(_too_much(archive, f"{limits.members:,} members", "limits.members"))
        parts = member.name.replace("\\", "/").split("/")
        if any(part in ("__MACOSX", ".DS_Store") or part.startswith("._") for part in parts):
            skipped += 1
            continue
        total_bytes += max(member.size, 0)
        if total_bytes > limits.total_bytes:
            raise DataError(_too_much(archive, f"{limits.total_bytes:,} bytes", "limits.total_bytes"))
        files += _write(archive, member, folder)
    return Contents(files, total_bytes, skipped)


def _write(archive: Path, member: _Member, folder: Path) -> bool:
    target = folder.joinpath(*_safe_parts(archive, member))
    try:
        if member.kind == "folder":
            target.mkdir(parents=True, exist_ok=True)
            return False
        target.parent.mkdir(parents=True, exist_ok=True)
        # Exclusive creation: nothing is ever overwritten, on disks that ignore letter case neither.
        with member.open() as source, target.open("xb") as sink:
            shutil.copyfileobj(source, sink, CHUNK_BYTES)
            written = sink.tell()
    except (FileExistsError, NotADirectoryError):
        raise _refusal(archive, member, "is there twice, or is both a file and a folder") from None
    if written != member.size:
        raise EOFError(f"{member.name!r} has {written:,} bytes, {member.size:,} were announced")
    return True


def _safe_parts(archive: Path, member: _Member) -> list[str]:
    name = member.name
    if member.kind not in ("file", "folder"):
        raise _refusal(archive, member, f"is a {member.kind}; only plain files and folders are unpacked")
    if name.startswith(("/", "\\")) or PureWindowsPath(name).drive:
        raise _refusal(archive, member, "has an absolute path")
    if ".." in name.replace("\\", "/").split("/"):
        raise _refusal(archive, member, "leads out of its folder")
    if "\0" in name or not _is_unicode(name) or member.size < 0:
        raise _refusal(archive, member, "has a damaged name or size")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if len(parts) > MAX_DEPTH:
        raise _refusal(archive, member, f"lies more than {MAX_DEPTH} folders deep")
    if not parts and member.kind == "file":
        raise _refusal(archive, member, "has no name")
    return parts


def _is_unicode(name: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in name)


def _members(archive: Path, limits: Limits) -> Iterator[_Member]:
    with archive.open("rb") as file:
        start = file.read(64)
    if start.startswith(b"\x1f\x8b"):
        return _tar_members(archive, limits)
    if start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip_members(archive)
    raise DataError(
        f"{archive}: neither a .tar.gz nor a .zip: it starts with {start[:24]!r}. "
        "If that looks like a web page, the address leads to a page about the archive."
    )


class _BoundedGzip(gzip.GzipFile):
    """A gzip stream that gives neither more than the limit in all nor much at once.

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
            raise DataError(_too_much(self._path, f"{self._limit:,} bytes", "limits.total_bytes"))


def _tar_members(archive: Path, limits: Limits) -> Iterator[_Member]:
    with (
        _BoundedGzip(archive, limits.total_bytes) as stream,
        tarfile.open(fileobj=stream, mode="r:", encoding="utf-8") as tar,
    ):
        while (info := tar.next()) is not None:
            yield _Member(info.name, _tar_kind(info), info.size, _opener(tar, info))
            cast(Any, tar).members.clear()  # tarfile would remember every member
        stream.seek(cast(Any, tar).offset)
        # To the very end: gzip keeps its checksum there, and tarfile takes a broken header for the end.
        while rest := stream.read(CHUNK_BYTES):
            if rest.strip(b"\0"):
                raise tarfile.ReadError("a header is broken, or something follows the end")


def _opener(tar: tarfile.TarFile, info: tarfile.TarInfo) -> Callable[[], IO[bytes]]:
    return lambda: cast(IO[bytes], tar.extractfile(info))


def _tar_kind(info: tarfile.TarInfo) -> str:
    if info.issym():
        return "symbolic link"
    if info.islnk():
        return "hard link"
    if info.isdir():
        return "folder"
    return "file" if info.isreg() and not info.issparse() else "device or other special file"


def _zip_members(archive: Path) -> Iterator[_Member]:
    with zipfile.ZipFile(archive) as file:
        for info in file.infolist():
            opener = cast(Callable[[], IO[bytes]], lambda info=info: file.open(info))
            yield _Member(info.orig_filename, _zip_kind(info), info.file_size, opener)


def _zip_kind(info: zipfile.ZipInfo) -> str:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if info.flag_bits & 1:
        return "file under a password"
    if stat.S_ISLNK(kind):
        return "symbolic link"
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "device or other special file"
    return "folder" if info.is_dir() else "file"


@contextmanager
def _damage_as_data_error(archive: Path) -> Iterator[None]:
    try:
        yield
    except DAMAGE as error:
        # Errors of the disk have a number; "invalid argument" is a seek to where a broken header pointed.
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        raise DataError(f"{archive}: the archive is damaged: {error}. Fetch it again.") from error


def _refusal(archive: Path, member: _Member, why: str) -> DataError:
    return DataError(
        f"{archive}: member {member.name!r} {why}. Nothing was unpacked; do not trust this archive."
    )


def _too_much(archive: Path, limit: str, field: str) -> str:
    return f"{archive}: the archive holds more than {limit}, the limit. Raise `{field}` if you trust it."
