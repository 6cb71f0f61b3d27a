"""Read and write files, in one place: a file is written completely or not at all.

A folder is written beside its final place, gets a `MANIFEST.json` with the SHA-256 of every file, is flushed
to disk and renamed. Nothing here or elsewhere in the package pickles.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from rationalize.errors import RationalizeError

JsonObject = dict[str, Any]
"""What a JSON object becomes when read; only for objects whose shape is not known."""
MANIFEST = "MANIFEST.json"
CACHE_VARIABLE = "RATIONALIZE_CACHE"
LONGEST_NAME = 200  # bytes; disks take 255
MANY = 100  # files beyond which flushing everything at once is quicker than one by one


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, as hexadecimal text."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def find_user_cache() -> Path:
    """Return the package's own folder in the user's cache folder on this operating system; it may not exist."""
    if sys.platform == "win32":
        place = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        place = Path.home() / "Library" / "Caches"
    else:
        place = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return place / "rationalize"


def sync(path: Path) -> None:
    """Flush a file to disk, or a folder's entries where the system can open folders."""
    if os.name == "nt" and path.is_dir():
        return
    handle = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_folder(path: Path) -> None:
    """Make a folder and the missing ones above it; they are on disk, not only in memory, when this returns."""
    missing = []
    for place in (path, *path.parents):
        if place.exists():
            break
        missing.append(place)
    path.mkdir(parents=True, exist_ok=True)
    for made in reversed(missing):
        with suppress(PermissionError):  # a folder that may be entered and written to, but not read
            sync(made.parent)


@contextmanager
def atomic_file(path: Path) -> Iterator[IO[str]]:
    """Write a text file (UTF-8, line ends as given) piece by piece; it appears only when complete."""
    with atomic_path(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        yield file


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a place beside `path` to write a file of any kind to; on success it becomes `path`."""
    part = path.with_name(f".{_fit_name(path.name)}.part-{os.getpid()}")
    try:
        with name_in_errors(path, part):
            make_folder(path.parent)
            yield part
            sync(part)
            part.replace(path)
            sync(path.parent)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _fit_name(name: str) -> str:
    """Return a name that leaves room for what is added to it while the file is written."""
    return name if len(os.fsencode(name)) <= LONGEST_NAME else hashlib.sha256(os.fsencode(name)).hexdigest()


@contextmanager
def name_in_errors(path: Path, part: Path) -> Iterator[None]:
    """Let errors of the disk name what was to be written, not the temporary file, nor nothing at all."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and str(error.filename or part).startswith(str(part)):
            error.filename = str(path)
        raise


def write_text(path: Path, text: str) -> None:
    """Write a text file (UTF-8, line ends as given) atomically; make its folder if needed."""
    with atomic_file(path) as file:
        file.write(text)


def to_json(value: Any, *, indent: int | None = 2) -> str:
    """Format JSON as the project writes it: readable, UTF-8, NaN refused."""
    return json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file atomically."""
    write_text(path, to_json(value) + "\n")


def read_json(path: Path) -> Any:
    """Read a JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))


def read_bounded_json(path: Path, most_bytes: int, error: type[RationalizeError]) -> Any:
    """Read a JSON file from somebody else; raise `error` if it is too large, too deep, or not JSON.

    A name that stands twice in one object is refused: readers differ on which of the two counts.
    """

    def refuse_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ValueError("a name stands twice in one object")
        return found

    if path.stat().st_size > most_bytes:
        raise error(f"{path}: {path.stat().st_size:,} bytes, expected at most {most_bytes:,}.")
    try:
        text = path.read_bytes().decode("utf-8")
        return json.loads(text, object_pairs_hook=refuse_twins, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as problem:
        raise error(f"{path}: not valid JSON: {str(problem)[:200]}.") from problem


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def json_line(value: Any) -> str:
    """Format one row of a JSON Lines file, line end included."""
    return to_json(value, indent=None) + "\n"


def csv_line(cells: Iterable[object]) -> str:
    """Format one row of a CSV file, line end included; every cell with a line end of any kind is quoted."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\r\n").writerow(cells)  # with \n alone, a lone \r would not be quoted
    return stream.getvalue().removesuffix("\r\n") + "\n"


@contextmanager
def atomic_dir(path: Path, seal: Callable[[Path], None] | None = None) -> Iterator[Path]:
    """Fill a temporary folder; on success it gets its manifest and becomes `path`, replacing what was there.

    Args:
        path: The folder.
        seal: Called on the complete folder, manifest included.
    """
    part = path.with_name(f".{path.name}.part-{os.getpid()}")
    try:
        with name_in_errors(path, part):
            make_folder(path.parent)
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir()
            yield part
            write_manifest(part)
            if seal is not None:
                seal(part)
            old = path.with_name(f".{path.name}.old-{os.getpid()}")
            if path.exists():
                # Of an earlier replacement: the disk did not let it go.
                shutil.rmtree(old, ignore_errors=True)
                path.replace(old)
            try:
                part.replace(path)
            except OSError:
                if old.exists():
                    old.replace(path)
                raise
            sync(path.parent)
            shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def write_manifest(folder: Path) -> None:
    """Write the SHA-256 and size of every file in the folder, and flush them all."""
    inside = sorted(folder.rglob("*"))
    files = [path for path in inside if path.is_file() and path.name != MANIFEST]
    if len(files) > MANY and hasattr(os, "sync"):
        os.sync()
    else:
        for path in inside:
            sync(path)
    entries = {
        path.relative_to(folder).as_posix(): {"sha256": sha256_of(path), "bytes": path.stat().st_size}
        for path in files
    }
    write_json(folder / MANIFEST, {"files": entries})


def manifest_problems(folder: Path) -> list[str]:
    """List missing, shortened or changed files; an empty list means that the folder is intact."""
    manifest = folder / MANIFEST
    if not manifest.is_file():
        return [f"{manifest}: missing"]
    try:
        entries = read_json(manifest)["files"]
        expected = {name: (entry["sha256"], entry["bytes"]) for name, entry in entries.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return [f"{manifest}: not a manifest"]
    problems = []
    for name, (digest, size) in expected.items():
        path = folder / name
        if not path.is_file():
            problems.append(f"{path}: missing")
        elif path.stat().st_size != size:
            problems.append(f"{path}: {path.stat().st_size} bytes, expected {size}")
        elif sha256_of(path) != digest:
            problems.append(f"{path}: content changed (SHA-256 differs)")
    return problems


def verify_dir(folder: Path, error: type[RationalizeError], advice: str) -> None:
    """Raise `error` unless the folder matches its manifest."""
    problems = manifest_problems(folder)
    if problems:
        raise error("\n".join([f"{folder}: damaged or incomplete.", *problems, advice]))


def remove_folder(path: Path) -> None:
    """Remove a folder, as far as the disk lets it; it is not back after a power failure."""
    for _ in range(2):  # a disk that refused once may not do so again
        if path.exists():
            shutil.rmtree(path, ignore_errors=True)
            sync(path.parent)


def sweep_abandoned(folder: Path) -> None:
    """Remove unfinished files whose writers have ended, in a folder that others may be writing to now."""
    for leftover in folder.glob(".*.part-*"):
        number = leftover.name.rpartition("-")[2]
        if number.isdigit() and len(number) < 10 and not _is_running(int(number)):
            with suppress(OSError):
                leftover.unlink()


def _is_running(process: int) -> bool:
    """Return whether there is such a process on this machine, or that is not known."""
    if os.name == "nt":
        return True  # there, to ask would be to end it
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def sweep_parts(folder: Path) -> None:
    """Remove what an interrupted writer left behind in the folder."""
    for leftover in folder.glob(".*.part-*"):
        shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
    for old in folder.glob(".*.old-*"):
        final = folder / old.name[1:].rsplit(".old-", 1)[0]
        # Killed between the two renames of a replacement: the old folder is the only complete one.
        shutil.rmtree(old) if final.exists() else old.replace(final)
