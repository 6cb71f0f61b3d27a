"""Unpack an untrusted archive: plain files and folders inside one folder, or nothing at all.

An archive is judged by its content, not by its name. Links, devices, paths that lead elsewhere, members that
come twice, and more bytes or members than allowed are refused. File modes are never taken over.
"""

from __future__ import annotations

import errno
import lzma
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath

from rationalize.data._archive_members import CHUNK_BYTES, Member, make_limit_error, read_members
from rationalize.data._disk_errors import make_disk_error
from rationalize.errors import DataError

MAX_DEPTH = 32
MAX_NAME_BYTES = 255  # what the usual disks take
_SHOWN_CHARACTERS = 100  # of a refused name
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
        skipped: Members left out because macOS adds them (`__MACOSX`, `._name`, `.DS_Store`).
    """

    files: int
    total_bytes: int
    skipped: int


def unpack(archive: Path, folder: Path, limits: Limits | None = None) -> Contents:
    """Unpack a .tar.gz or .zip into an existing folder; a single top folder is stripped.

    Raises:
        DataError: If the archive is damaged, is of another kind, or holds what is refused, or the disk does not
            take it. The folder is then as it was.
    """
    limits = limits or Limits()
    with _convert_errors(archive, folder), _open_staging(folder) as staging:
        contents = _write_all(archive, read_members(archive, limits.total_bytes), staging, limits)
        if not contents.files:
            raise DataError(f"{archive}: the archive holds no files. Expected a data set.")
        entries = list(staging.iterdir())
        _move_up(entries[0] if len(entries) == 1 and entries[0].is_dir() else staging, folder)
    return contents


@contextmanager
def _open_staging(folder: Path) -> Iterator[Path]:
    """Yield a folder inside that is removed in the end."""
    staging = Path(tempfile.mkdtemp(dir=folder))
    try:
        yield staging
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _move_up(top: Path, folder: Path) -> None:
    moved: list[Path] = []
    try:
        for entry in top.iterdir():
            moved.append(entry.replace(folder / entry.name))
    except BaseException:
        for path in moved:
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
        raise


def _write_all(archive: Path, members: Iterator[Member], folder: Path, limits: Limits) -> Contents:
    files = total_bytes = skipped = 0
    for number, member in enumerate(members, start=1):
        if number > limits.members:
            raise make_limit_error(archive, f"{limits.members:,} members", "limits.members")
        parts = member.name.replace("\\", "/").split("/")
        if any(part in ("__MACOSX", ".DS_Store") or part.startswith("._") for part in parts):
            skipped += 1
            continue
        total_bytes += max(member.size, 0)
        if total_bytes > limits.total_bytes:
            raise make_limit_error(archive, f"{limits.total_bytes:,} bytes", "limits.total_bytes")
        files += _write(archive, member, folder)
    return Contents(files, total_bytes, skipped)


def _write(archive: Path, member: Member, folder: Path) -> bool:
    target = folder.joinpath(*_check_parts(archive, member))
    try:
        if member.kind == "folder":
            target.mkdir(parents=True, exist_ok=True)
            return False
        target.parent.mkdir(parents=True, exist_ok=True)
        # Exclusive creation: nothing is overwritten, even on disks that ignore letter case.
        with member.open() as source, target.open("xb") as sink:
            shutil.copyfileobj(source, sink, CHUNK_BYTES)
            written = sink.tell()
    except (FileExistsError, NotADirectoryError):
        raise _make_refusal(archive, member, "is there twice, or is both a file and a folder") from None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise _make_refusal(archive, member, f"has a path too long for {folder.parent}") from None
        raise
    if written != member.size:
        raise EOFError(f"{_show(member)} has {written:,} bytes, {member.size:,} were announced")
    return True


def _check_parts(archive: Path, member: Member) -> list[str]:
    name = member.name
    if member.kind not in ("file", "folder"):
        raise _make_refusal(archive, member, f"is a {member.kind}; only plain files and folders are unpacked")
    if name.startswith(("/", "\\")) or PureWindowsPath(name).drive:
        raise _make_refusal(archive, member, "has an absolute path")
    if ".." in name.replace("\\", "/").split("/"):
        raise _make_refusal(archive, member, "leads out of its folder")
    if "\0" in name or not _is_unicode(name) or member.size < 0:
        raise _make_refusal(archive, member, "has a damaged name or size")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if len(parts) > MAX_DEPTH:
        raise _make_refusal(archive, member, f"lies more than {MAX_DEPTH} folders deep")
    if not parts and member.kind == "file":
        raise _make_refusal(archive, member, "has no name")
    longest = max((len(part.encode()) for part in parts), default=0)
    if longest > MAX_NAME_BYTES:
        raise _make_refusal(
            archive, member, f"has a name of {longest:,} bytes; at most {MAX_NAME_BYTES} can be kept"
        )
    return parts


def _is_unicode(name: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in name)


@contextmanager
def _convert_errors(archive: Path, folder: Path) -> Iterator[None]:
    try:
        yield
    except DAMAGE as error:
        # Errors of the disk have a number; "invalid argument" is a seek to where a broken header pointed.
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise make_disk_error(error, folder, f"Nothing of {archive} was unpacked.") from error
        raise DataError(f"{archive}: the archive is damaged: {str(error)[:200]}. Fetch it again.") from error


def _make_refusal(archive: Path, member: Member, why: str) -> DataError:
    return DataError(
        f"{archive}: member {_show(member)} {why}. Nothing was unpacked; do not trust this archive."
    )


def _show(member: Member) -> str:
    name = member.name
    return repr(name if len(name) <= _SHOWN_CHARACTERS else f"{name[:_SHOWN_CHARACTERS]}…")
