"""Locks between processes: one writer per folder, and waiting for a turn.

The operating system releases a lock when its holder ends, however that happens, so a killed process blocks nobody.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rationalize.errors import BusyError
from rationalize.files import make_folder, read_json, sync, write_json

if TYPE_CHECKING:
    from filelock import BaseFileLock

LOCK = ".lock"
HOLDER = ".holder.json"
"""Beside the lock while it is held; a leftover of a killed process is replaced by the next holder."""


@dataclass(frozen=True)
class Holder:
    """Who writes to a folder."""

    pid: int
    host: str
    since: str

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}, since {self.since}"


def take_lock(path: Path) -> BaseFileLock | None:
    """Hold a lock file until it is released; return None if another process holds it.

    It works on every system, and a killed holder releases it. The file is only a marker: never lock one that has
    content.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(path)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        return None
    return lock


@contextmanager
def try_lock(path: Path) -> Iterator[bool]:
    """Hold a lock file while in the context; yield False if another process holds it."""
    lock = take_lock(path)
    try:
        yield lock is not None
    finally:
        if lock is not None:
            lock.release()


def name_lock(entry: Path) -> Path:
    """Return the lock file to hold while making or copying a file or folder."""
    return entry.with_name(f".{entry.name}.lock")


@contextmanager
def wait_for_lock(path: Path) -> Iterator[None]:
    """Hold a lock file while in the context; wait while another process or thread holds it.

    The thread that holds it may enter again.
    """
    from filelock import FileLock

    make_folder(path.parent)
    with FileLock(path, is_singleton=True):
        yield


@contextmanager
def hold_folder(folder: Path, *, field: str | tuple[str, ...] = ()) -> Iterator[None]:
    """Be the only one who writes to a folder while in the context; make the folder if needed.

    Raises:
        BusyError: If another process, or this one elsewhere, writes to it; it names that process.
    """
    make_folder(folder)
    with try_lock(folder / LOCK) as alone:
        if not alone:
            raise BusyError(_describe_busy(folder), field=field)
        for unfinished in folder.glob(f".{HOLDER}.part-*"):
            unfinished.unlink()  # of somebody who was killed while writing it: only a holder writes it
        now = datetime.now(UTC).isoformat(timespec="seconds")
        write_json(folder / HOLDER, asdict(Holder(os.getpid(), socket.gethostname(), now)))
        try:
            yield
        finally:
            (folder / HOLDER).unlink(missing_ok=True)
            if folder.is_dir():
                sync(folder)  # or the name is back after a power failure


def check_free(folder: Path) -> None:
    """Raise BusyError if somebody writes to the folder now, before long work that would end there."""
    if (folder / LOCK).is_file():
        with try_lock(folder / LOCK) as alone:
            if not alone:
                raise BusyError(_describe_busy(folder))


def forget_holder(folder: Path) -> None:
    """Remove the name of a holder who is gone: a process that was killed, or one before a power failure."""
    if (folder / HOLDER).is_file():
        with try_lock(folder / LOCK) as alone:
            if alone:
                (folder / HOLDER).unlink(missing_ok=True)


def is_lock_file(path: Path) -> bool:
    """Return whether a file belongs to `hold_folder`, unfinished ones included."""
    return path.name in {LOCK, HOLDER} or path.name.startswith(f".{HOLDER}.part-")


def read_holder(folder: Path) -> Holder | None:
    """Read who holds a folder; None: not known."""
    try:
        return Holder(**read_json(folder / HOLDER))
    except (OSError, ValueError, TypeError):
        return None  # it has not written its name yet, or has just left


def _describe_busy(folder: Path) -> str:
    holder = read_holder(folder)
    who = str(holder) if holder else "another process"
    return (
        f"{folder}: in use by {who}. Only one process may write here: wait for it, or choose another folder."
    )
