"""Work of a family, done in places of its own and compared with what it leaves when nobody disturbs it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from families import describe_difference, digest, fingerprint
from forks import Ended, Warm


@dataclass(frozen=True)
class Undisturbed:
    """A family's work, left alone."""

    files: dict[str, str]
    operations: list[str]
    seconds: float


class Bench:
    """Does work of a family in places of its own, and compares what is left with the undisturbed one."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.warm, self.count = folder, Warm(folder), 0
        self._known: dict[str, Undisturbed] = {}
        self._continued: set[tuple[str, str]] = set()
        self.spared = 0

    def know(self, family: str) -> Undisturbed:
        if family not in self._known:
            root = self.place()
            ended = self.warm.run(family, root)
            assert ended.code == 0, ended.said
            self._known[family] = Undisturbed(digest(root), ended.operations, ended.seconds)
            shutil.rmtree(root)
        return self._known[family]

    def place(self) -> Path:
        self.count += 1
        return self.folder / f"attempt-{self.count}"

    def finish(self, family: str, root: Path) -> str:
        """Continue the work; returns what is wrong afterwards, or nothing.

        Where the very same files were left before, and the work went on well from there, it would do so again.
        """
        state = family, fingerprint(root, str(root))
        if state in self._continued:
            self.spared += 1
            return ""
        ended = self.warm.run(family, root)
        if ended.code or ended.signal:
            return f"cannot be continued: {describe(ended)}"
        changed = describe_difference(digest(root), self.know(family).files)
        if changed:
            return f"differs: {list(changed)[:5]}"
        self._continued.add(state)
        return ""


def describe(ended: Ended) -> str:
    return f"signal {ended.signal}, code {ended.code}: {ended.said.strip()[-500:]}"
