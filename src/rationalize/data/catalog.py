"""The data sets known by name; fetch one of them, or any archive, into a folder."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from rationalize.data._disk_errors import convert_disk_errors
from rationalize.data._target_folder import (
    check_out,
    check_record,
    check_replaceable,
    clear_leftovers,
    hold_folder,
    holds_something,
    list_leftovers,
    read_record,
)
from rationalize.data._trust import PINNED, Expectation, check_sha256, expect
from rationalize.data.archives import Limits, unpack
from rationalize.data.bounded_http import Deadline
from rationalize.data.data_files import SOURCE
from rationalize.data.fetch import Patience, Watcher, download
from rationalize.data.part_file import PartFile, read_recorded_address, strip_secrets
from rationalize.errors import ConfigError, DataError
from rationalize.files import atomic_dir, read_json, sha256_of, write_json

OFFICIAL_URL = "https://www.eraserbenchmark.com/zipped"
NAMED = {
    "movies": "film reviews, positive or negative",
    "multirc": "is this answer to a question about a passage true?",
    "boolq": "yes/no questions about an encyclopedia article",
    "evidence_inference": "did a treatment raise, lower or not change an outcome?",
    "fever": "is a claim supported or refuted by an encyclopedia article?",
}
_NOT_UNENCRYPTED = (
    "It is not tried unencrypted, as no SHA-256 of it is known; give one (sha256) if you have it."
)


@dataclass(frozen=True, slots=True)
class ArchiveSource:
    """Where an archive comes from.

    Attributes:
        name: The name that its folder gets.
        place: An address or a file.
        sha256: The archive's SHA-256, if the package knows it.
        unencrypted: The address to try if `place` gives nothing; used only if a SHA-256 is expected.
        known: It was asked for by a name of `NAMED`; a file or address that merely ends like one may hold anything.
    """

    name: str
    place: str | Path
    sha256: str | None = None
    unencrypted: str | None = None
    known: bool = False

    @property
    def shown(self) -> str:
        """How the source is recorded: an address without secrets, or a file's bare name."""
        return self.place.name if isinstance(self.place, Path) else strip_secrets(self.place)


@dataclass(frozen=True, slots=True)
class DataFolder:
    """A data set on disk.

    Attributes:
        path: Where it is.
        fetched: False if it existed already and nothing was done.
        record: The content of its `SOURCE.json` (source, sha256, trust, bytes, members, …); empty if it has none.
    """

    path: Path
    fetched: bool
    record: Mapping[str, Any]


def find_source(text: str, base_url: str = OFFICIAL_URL) -> ArchiveSource:
    """Tell a known name, an http(s) address and an archive file apart."""
    if text in NAMED:
        return _find_named(text, _check_url(base_url).rstrip("/"))
    if "://" in text:
        return ArchiveSource(_derive_name(unquote(urlsplit(_check_url(text)).path)), text)
    with convert_disk_errors(Path(text), "Expected a known data set, an http(s) address or an archive file."):
        if Path(text).is_file():
            return ArchiveSource(_derive_name(Path(text).name), Path(text))
    known = "\n".join(f"  {name}: {what}" for name, what in NAMED.items())
    raise DataError(
        f"{text!r} is neither a known data set, nor an http(s) address, nor an archive file. "
        f"Known data sets:\n{known}"
    )


def read_recorded_name(folder: Path) -> str | None:
    """Return the known name under which `get_data` fetched the folder; None: it has none."""
    try:
        name = read_json(folder / SOURCE)["name"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return name if name in NAMED else None


def _find_named(name: str, base_url: str) -> ArchiveSource:
    if base_url.partition("://")[2] != OFFICIAL_URL.partition("://")[2]:
        # Another server may have repacked the files, so the official archive's SHA-256 does not apply.
        return ArchiveSource(name, f"{base_url}/{name}.tar.gz", known=True)
    place = f"{OFFICIAL_URL}/{name}.tar.gz"
    plain = place.replace("https://", "http://", 1)
    return ArchiveSource(name, place, PINNED.get(name), plain, known=True)


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
    """Unpack an archive into a folder, by default `data/<name>`, completely or not at all.

    Args:
        source: Where the archive is, see `find_source`.
        out: The folder to make.
        sha256: The SHA-256 that the archive must have; None: the one that is known, else the one that the same
            address gave for this folder before, else any.
        force: Replace a folder that an earlier call made.
        limits: How large the archive may be, packed and unpacked.
        patience: Time-outs, retries and the deadline.
        watcher: Gets the download's progress.
    """
    limits, watcher = limits or Limits(), watcher or Watcher()
    given = check_sha256(sha256)
    out = out if out is not None else Path("data") / source.name
    with convert_disk_errors(out), ExitStack() as held:
        out = check_out(out)
        if force or list_leftovers(out) or not holds_something(out):
            held.enter_context(hold_folder(out))
            clear_leftovers(out)
        if holds_something(out):
            if not force:
                return DataFolder(out, False, check_record(out, given))
            check_replaceable(out)
        address = None if isinstance(source.place, Path) else source.shown
        expected = expect(address, given, source.sha256, read_record(out))
        with _bring(source, out, expected, limits.total_bytes, patience, watcher) as (archive, digest, shown):
            expected.check(shown, digest, downloaded=address is not None)
            if expected.trust == "first use" and shown.startswith("http:"):
                watcher.note(f"{shown}: came unencrypted and is not known. Check its SHA-256, {digest}")
            watcher.note(f"unpacking into {out}")
            origin = {"name": source.name if source.known else None, "source": shown}
            record = _unpack(archive, out, limits, **origin, sha256=digest, trust=expected.trust)
    return DataFolder(out, True, record)


@contextmanager
def _bring(
    source: ArchiveSource,
    out: Path,
    expected: Expectation,
    max_bytes: int,
    patience: Patience | None,
    watcher: Watcher,
) -> Iterator[tuple[Path, str, str]]:
    """Yield the archive's file, SHA-256 and source. A download is removed after unpacking, or if it is bad."""
    if isinstance(source.place, Path):
        yield source.place, sha256_of(source.place), source.shown
        return
    part_path = out.with_name(f"{out.name}.part")
    addresses = _list_addresses(source, source.place, expected, read_recorded_address(part_path))
    patience = patience or Patience()
    deadline = Deadline(patience.deadline_s)
    for address in addresses:
        with PartFile(part_path, address) as part:
            last = address == addresses[-1]
            tries = patience if last else replace(patience, attempts=1)
            try:
                download(
                    address, part, max_bytes=max_bytes, patience=tries, deadline=deadline, watcher=watcher
                )
            except DataError as error:
                if source.unencrypted is not None and expected.sha256 is None:
                    raise DataError(f"{error} {_NOT_UNENCRYPTED}", field="sha256") from error
                if last or part.size:
                    raise
                watcher.note(f"{error} Its SHA-256 is known, so it is tried unencrypted.")
                continue
            try:
                yield part.path, part.sha256, strip_secrets(address)
            except (DataError, OSError):
                part.remove()
                raise
            part.remove()
            return


def _list_addresses(source: ArchiveSource, place: str, expected: Expectation, begun: str | None) -> list[str]:
    """Return the addresses in the order to try; a begun download is continued first."""
    found = [place]
    if source.unencrypted is not None and expected.sha256 is not None:
        found.append(source.unencrypted)
    return sorted(found, key=lambda address: strip_secrets(address) != begun)


def _unpack(archive: Path, out: Path, limits: Limits, **origin: str | None) -> Mapping[str, Any]:
    with atomic_dir(out) as folder:
        contents = unpack(archive, folder, limits)
        record = {
            **origin,
            "bytes": archive.stat().st_size,
            "members": contents.files,
            "unpacked_bytes": contents.total_bytes,
            "skipped": contents.skipped,
        }
        write_json(folder / SOURCE, record)
    return record


def _check_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        _ = parts.port  # a ValueError if it is no number
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError(
            f"{strip_secrets(url)!r}: cannot be fetched. Expected http(s)://host/…, without a password in it."
        )
    return url


def _derive_name(name: str) -> str:
    base = name.rstrip("/").rpartition("/")[2]
    stem = re.sub(r"(\.tar\.gz|\.tgz|\.zip)$", "", base, flags=re.IGNORECASE)
    return stem if stem not in ("", ".", "..") and "\0" not in stem else "download"
