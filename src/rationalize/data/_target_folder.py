"""The folder for a fetched data set: what exists, and what killed runs left."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from rationalize.data.data_files import SOURCE
from rationalize.errors import ConfigError, DataError
from rationalize.files import make_folder, read_json
from rationalize.locks import take_lock


def check_out(out: Path) -> Path:
    """Return the folder to make, with a link resolved."""
    if out.name in ("", ".."):
        raise ConfigError(
            f"out {str(out)!r}: expected the name of a folder to make, for instance data/movies.", field="out"
        )
    return out.resolve() if out.is_symlink() else out


def holds_something(out: Path) -> bool:
    """Return whether the folder exists and is not empty."""
    if out.exists() and not out.is_dir():
        raise DataError(
            f"{out}: a file, expected a folder or nothing. Choose another folder (out).", field="out"
        )
    return out.is_dir() and any(out.iterdir())


def check_replaceable(out: Path) -> None:
    """Refuse to replace what was not fetched."""
    if not (out / SOURCE).is_file():
        raise DataError(
            f"{out}: was not made by `rationalize data get` (no {SOURCE} in it), so it is left alone, force or "
            "not. Remove it yourself, or choose another folder (out).",
            field="out",
        )


def read_record(out: Path) -> Mapping[str, Any]:
    """Read the folder's `SOURCE.json`; empty if it has none."""
    try:
        return dict(read_json(out / SOURCE))
    except (OSError, ValueError, TypeError, RecursionError):
        return {}


def check_record(out: Path, expected: str | None) -> Mapping[str, Any]:
    """Return the record of an existing folder; refuse one that comes from another archive."""
    record = read_record(out)
    if expected not in (None, record.get("sha256")):
        raise DataError(
            f"{out}: is there already, made from an archive with SHA-256 {record.get('sha256', 'unknown')}, "
            f"expected {expected}. Replace it (force), or choose another folder (out).",
            field=("force", "out"),
        )
    return record


@contextmanager
def hold_folder(out: Path) -> Iterator[None]:
    """Refuse other processes that would write the same folder; a killed holder releases it."""
    make_folder(out.parent)
    mark = out.with_name(f".{out.name}.lock")
    lock = take_lock(mark)
    if lock is None:
        raise DataError(f"{out}: another process is writing it. Wait for it, or stop it.", field="out")
    try:
        yield
    finally:
        with suppress(OSError):  # Windows keeps a file that is open
            mark.unlink(missing_ok=True)
        lock.release()


def list_leftovers(out: Path) -> list[Path]:
    """List the unfinished and the replaced folders that stand beside this one."""
    name = re.compile(rf"\.{re.escape(out.name)}\.(part|old)-\d+")
    return sorted(path for path in out.parent.glob(".*-*") if name.fullmatch(path.name))


def clear_leftovers(out: Path) -> None:
    """Remove what killed runs left beside this folder; only for the process that holds it."""
    for leftover in list_leftovers(out):
        # Killed between the two renames of a replacement: the old folder is the only complete one.
        lost = ".old-" in leftover.name and not out.exists()
        leftover.replace(out) if lost else shutil.rmtree(leftover)
