"""The data sets known by name, and bringing one (or any other archive) into a folder of its own."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from rationalize.data.archives import Limits, unpack
from rationalize.data.data_files import SOURCE
from rationalize.data.fetch import Patience, Watcher, download
from rationalize.data.part_file import PartFile, strip_secrets
from rationalize.errors import ConfigError, DataError
from rationalize.files import atomic_dir, read_json, sha256_of, write_json

OFFICIAL_URL = "http://www.eraserbenchmark.com/zipped"
NAMED = {
    "movies": "film reviews, positive or negative",
    "multirc": "is this answer to a question about a passage true?",
    "boolq": "yes/no questions about an encyclopedia article",
    "evidence_inference": "did a treatment raise, lower or not change an outcome?",
    "fever": "is a claim supported or refuted by an encyclopedia article?",
}


@dataclass(frozen=True, slots=True)
class ArchiveSource:
    """Where an archive comes from: an address or a file, and the name that its folder gets."""

    name: str
    place: str | Path

    @property
    def shown(self) -> str:
        """How the source is recorded: an address without secrets, or a file's bare name."""
        return self.place.name if isinstance(self.place, Path) else strip_secrets(self.place)


@dataclass(frozen=True, slots=True)
class DataFolder:
    """A data set on disk.

    Attributes:
        path: Where it is.
        fetched: False if it was there already and nothing was done.
        record: What its `SOURCE.json` says (source, sha256, bytes, members, …); empty if it has none.
    """

    path: Path
    fetched: bool
    record: dict[str, Any]


def find_source(text: str, base_url: str = OFFICIAL_URL) -> ArchiveSource:
    """Tell a known name, an http(s) address and an archive file apart."""
    if text in NAMED:
        return ArchiveSource(text, f"{_check_url(base_url).rstrip('/')}/{text}.tar.gz")
    if "://" in text:
        return ArchiveSource(_stem(unquote(urlsplit(_check_url(text)).path)), text)
    if Path(text).is_file():
        return ArchiveSource(_stem(Path(text).name), Path(text))
    known = "\n".join(f"  {name}: {what}" for name, what in NAMED.items())
    raise DataError(
        f"{text!r} is neither a known data set, nor an http(s) address, nor an archive file. "
        f"Known data sets:\n{known}"
    )


def get_data(
    source: ArchiveSource,
    *,
    out: Path | None = None,
    sha256: str | None = None,
    force: bool = False,
    limits: Limits | None = None,
    patience: Patience | None = None,
    watcher: Watcher | None = None,
) -> DataFolder:
    """Bring an archive's content into a folder, by default `data/<name>`, whole or not at all.

    Args:
        source: Where the archive is, see `find_source`.
        out: The folder to make.
        sha256: The SHA-256 that the archive must have.
        force: Replace a folder that an earlier call made.
        limits: How large the archive may be, packed and unpacked.
        patience: Time-outs and retries.
        watcher: Hears how the download goes.
    """
    limits, watcher = limits or Limits(), watcher or Watcher()
    expected = _check_sha256(sha256)
    out = _check_out(out if out is not None else Path("data") / source.name)
    with _disk_trouble_as_data_error(out):
        _clear_leftovers(out)
        if _is_there(out) and not (force and _may_replace(out)):
            return DataFolder(out, False, _record_of(out, expected))
        part = out.with_name(f"{out.name}.part")
        with _archive(source, part, limits.total_bytes, patience, watcher) as (archive, digest):
            if expected not in (None, digest):
                raise DataError(_wrong_sha256(source, digest, expected))
            watcher.note(f"unpacking into {out}")
            record = _unpack(source, archive, digest, out, limits)
    return DataFolder(out, True, record)


@contextmanager
def _archive(
    source: ArchiveSource, part_path: Path, max_bytes: int, patience: Patience | None, watcher: Watcher
) -> Iterator[tuple[Path, str]]:
    """The archive as a file, and its SHA-256. A download is removed once it is unpacked or found bad."""
    if isinstance(source.place, Path):
        yield source.place, sha256_of(source.place)
        return
    with PartFile(part_path, source.place) as part:
        download(source.place, part, max_bytes=max_bytes, patience=patience, watcher=watcher)
        try:
            yield part.path, part.sha256
        except DataError:
            part.remove()
            raise
        part.remove()


def _unpack(source: ArchiveSource, archive: Path, sha256: str, out: Path, limits: Limits) -> dict[str, Any]:
    with atomic_dir(out) as folder:
        contents = unpack(archive, folder, limits)
        record = {
            "source": source.shown,
            "sha256": sha256,
            "bytes": archive.stat().st_size,
            "members": contents.files,
            "unpacked_bytes": contents.total_bytes,
            "skipped": contents.skipped,
        }
        write_json(folder / SOURCE, record)
    return record


def _wrong_sha256(source: ArchiveSource, seen: str, expected: str | None) -> str:
    removed = "" if isinstance(source.place, Path) else "; the download was removed"
    return (
        f"{source.shown}: the SHA-256 is {seen}, expected {expected}. Nothing was unpacked{removed}. "
        "Check the source and the expected value."
    )


def _is_there(out: Path) -> bool:
    if out.exists() and not out.is_dir():
        raise DataError(f"{out}: a file, expected a folder or nothing. Choose another `out`.")
    return out.is_dir() and any(out.iterdir())


def _may_replace(out: Path) -> bool:
    if not (out / SOURCE).is_file():
        raise DataError(
            f"{out}: was not made by `rationalize data get` (no {SOURCE} in it), so `force` leaves it alone. "
            "Remove it yourself, or choose another `out`."
        )
    return True


def _record_of(out: Path, expected: str | None) -> dict[str, Any]:
    try:
        record: dict[str, Any] = dict(read_json(out / SOURCE))
    except (OSError, ValueError, TypeError):
        record = {}
    if expected not in (None, record.get("sha256")):
        raise DataError(
            f"{out}: is there already, made from an archive with SHA-256 {record.get('sha256', 'unknown')}, "
            f"expected {expected}. Replace it (`force`), or choose another `out`."
        )
    return record


def _clear_leftovers(out: Path) -> None:
    """Remove what killed runs left of this folder; what living ones are writing stays."""
    for leftover in out.parent.glob(".*-*"):
        match = re.fullmatch(rf"\.{re.escape(out.name)}\.(part|old)-(\d+)", leftover.name)
        if match and not _runs(int(match[2])):
            # Killed between the two renames of a replacement: the old folder is the only complete one.
            lost = match[1] == "old" and not out.exists()
            leftover.replace(out) if lost else shutil.rmtree(leftover)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _check_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError(f"{url!r}: cannot be fetched. Expected http(s)://host/…, without a password in it.")
    return url


def _check_sha256(sha256: str | None) -> str | None:
    if sha256 is None:
        return None
    if not re.fullmatch(r"[0-9a-fA-F]{64}", sha256.strip()):
        raise ConfigError(f"`sha256`: saw {sha256!r}, expected 64 hexadecimal digits.")
    return sha256.strip().lower()


def _check_out(out: Path) -> Path:
    if out.name in ("", ".."):
        raise ConfigError(
            f"`out`: saw {str(out)!r}, expected the name of a folder to make, for instance data/movies."
        )
    return out.resolve() if out.is_symlink() else out


def _stem(name: str) -> str:
    base = name.rstrip("/").rpartition("/")[2]
    stem = re.sub(r"(\.tar\.gz|\.tgz|\.zip)$", "", base, flags=re.IGNORECASE)
    return stem if stem not in ("", ".", "..") and "\0" not in stem else "download"


@contextmanager
def _disk_trouble_as_data_error(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataError(
            f"{error.filename or out}: {error.strerror or error}. Nothing was left half done."
        ) from error
