"""A disk in memory that knows what it has been asked to keep: what would be left if the power failed?

Nothing but what was flushed is certain. The bytes of a file are certain once the file was flushed; a name in a folder
(created, renamed, removed) is certain once the folder was flushed. Names change in the order in which they were
changed, as journaling file systems do, but each folder may have got further than the others, and names may be on disk
before the bytes of what they name.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

Step = tuple[str, str, str, int, bytes]


@dataclass(eq=False)
class File:
    data: bytes = b""
    kept: bytes = b""


@dataclass(eq=False)
class Folder:
    names: dict[str, File | Folder] = field(default_factory=dict)
    changes: list[dict[str, File | Folder | None]] = field(default_factory=list)
    kept: int = 0

    def change(self, **names: File | Folder | None) -> None:
        self.changes.append(names)
        for name, what in names.items():
            if what is None:
                self.names.pop(name, None)
            else:
                self.names[name] = what

    def recall(self, number: int) -> dict[str, File | Folder]:
        """The names after so many changes."""
        found: dict[str, File | Folder] = {}
        for names in self.changes[:number]:
            for name, what in names.items():
                if what is None:
                    found.pop(name, None)
                else:
                    found[name] = what
        return found


class Disk:
    """Does what it is asked, and remembers what was flushed."""

    def __init__(self, root: str) -> None:
        self.root, self.top = root, Folder()

    def do(self, step: Step) -> None:
        kind, path, target, offset, data = step
        if kind == "read":
            return
        if kind == "sync all":
            self._keep_all(self.top)
            return
        if kind == "sync":
            self._keep(self._find(path))
            return
        folder, name = self._split(path)
        if kind == "create":
            folder.change(**{name: File()})
        elif kind == "mkdir":
            folder.change(**{name: Folder()})
        elif kind in ("unlink", "rmdir"):
            folder.change(**{name: None})
        elif kind == "rename":
            other, new = self._split(target)
            assert other is folder, f"a rename between folders: {path} to {target}"
            folder.change(**{new: folder.names[name], name: None})
        else:
            file = folder.names[name]
            assert isinstance(file, File)
            file.data = file.data[:offset] if kind == "cut" else file.data[:offset] + data

    def _split(self, path: str) -> tuple[Folder, str]:
        parent, _, name = path.rpartition("/")
        folder = self._find(parent)
        assert isinstance(folder, Folder)
        return folder, name

    def _find(self, path: str) -> File | Folder:
        found: File | Folder = self.top
        for name in path.removeprefix(self.root).strip("/").split("/"):
            if name:
                assert isinstance(found, Folder)
                found = found.names[name]
        return found

    def _keep(self, what: File | Folder) -> None:
        if isinstance(what, File):
            what.kept = what.data
        else:
            what.kept = len(what.changes)

    def _keep_all(self, folder: Folder) -> None:
        self._keep(folder)
        for each in folder.names.values():
            self._keep_all(each) if isinstance(each, Folder) else self._keep(each)

    def lose(self, how: str, rng: random.Random) -> dict[str, bytes | None]:
        """What is left, by path; None: a folder.

        Args:
            how: `all`: of what was not flushed nothing is left; `bytes`: names are left, bytes are not; `names`: the
                other way around; `some`: of each file and folder any part; `none`: everything is left.
            rng: Decides which part.
        """
        left: dict[str, bytes | None] = {}
        self._collect(self.top, "", how, rng, left)
        return left

    def _collect(
        self, folder: Folder, path: str, how: str, rng: random.Random, left: dict[str, bytes | None]
    ) -> None:
        most = len(folder.changes)
        number = {"all": folder.kept, "names": folder.kept}.get(how, most)
        if how == "some":
            number = rng.randint(folder.kept, most)
        for name, what in sorted(folder.recall(number).items()):
            if isinstance(what, Folder):
                left[f"{path}{name}"] = None
                self._collect(what, f"{path}{name}/", how, rng, left)
            else:
                left[f"{path}{name}"] = _lose_bytes(what, how, rng)


def _lose_bytes(file: File, how: str, rng: random.Random) -> bytes:
    if how in ("none", "names"):
        return file.data
    if how == "some" and len(file.data) > len(file.kept):
        return file.data[: rng.randint(len(file.kept), len(file.data))]
    return file.kept


def hash_left(left: dict[str, bytes | None]) -> bytes:
    found = hashlib.sha256()
    for name, data in sorted(left.items()):
        found.update(f"{name}\0{'folder' if data is None else hashlib.sha256(data).hexdigest()}\n".encode())
    return found.digest()


def write_left(left: dict[str, bytes | None], root: Path) -> None:
    root.mkdir(parents=True)
    for name, data in left.items():  # folders come before what is in them
        if data is None:
            (root / name).mkdir()
        else:
            (root / name).write_bytes(data)


def list_losses(steps: Iterable[Step], root: str, seed: int) -> Iterable[tuple[str, dict[str, bytes | None]]]:
    """Every different state that a power failure after any of the steps may leave, with words for it."""
    disk, rng, seen = Disk(root), random.Random(seed), set()
    for number, step in enumerate(steps):
        disk.do(step)
        for how in ("all", "bytes", "names", "some"):
            left = disk.lose(how, rng)
            key = hash_left(left)
            if key not in seen:
                seen.add(key)
                yield f"after {number} ({step[0]} {step[2] or step[1]}), {how} lost", left
