"""Files of a task that goes where its folders are out of reach: packed here, unpacked there, and back again."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

from rationalize.files import make_folder, remove_folder, sync
from rationalize.locks import is_lock_file


def pack(files: Mapping[str, Path]) -> bytes:
    """Pack those files and folders that are there, under their names; locks stay."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, path in files.items():
            if path.exists():
                archive.add(path, name, filter=_leave_locks)
    return packed.getvalue()


def unpack(packed: bytes, folder: Path) -> None:
    """Unpack everything into a folder."""
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")


def bring_home(packed: bytes, files: Mapping[str, Path], scratch: Path) -> None:
    """Put what was packed elsewhere in its places, one after the other, each complete.

    Args:
        packed: The files.
        files: Their places, by name.
        scratch: An empty folder on the same disk.
    """
    unpack(packed, scratch)
    for name, path in files.items():
        made = scratch / name
        make_folder(path.parent)
        if not made.exists():
            path.unlink(missing_ok=True) if path.is_file() else None  # the task removed it
            continue
        for inside in (made, *made.rglob("*")):
            sync(inside)
        if path.is_dir():
            remove_folder(path)
        made.replace(path)
        sync(path.parent)


def _leave_locks(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if is_lock_file(Path(member.name)) else member
