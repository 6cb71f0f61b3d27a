"""Work whose output is in a store: each part is sent there when it is finished, and then a record of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from rationalize.corpus._chunk import PartRecord
from rationalize.corpus._unfinished import (
    PARTS,
    PLAN,
    Unfinished,
    WorkPlan,
    refuse_unfinished,
    require_same,
)
from rationalize.data.remote_folder import RemoteFolder
from rationalize.errors import ConfigError, DataError
from rationalize.files import make_folder, to_json

RECORDS = "_unfinished"
"""Where records of parts are until all are there; a leading `_` hides it from tools that read the folder as a table."""


class StoredWork(Unfinished):
    """Unfinished work in a store; parts are made in a folder of this machine."""

    def __init__(self, folder: Path, plan: WorkPlan, store: RemoteFolder) -> None:
        self._store, self._names = store, store.list_names()
        super().__init__(folder, plan)
        self.shown = store.address

    def _find_finished(self) -> dict[int, PartRecord]:
        # A part that was cut off has no record: that is written afterwards.
        records = (name for name in self._names if name.startswith(f"{RECORDS}/part-"))
        found = [PartRecord(**json.loads(self._store.read(name))) for name in records]
        return {each.part: each for each in found if self.part(each.part).name in self._names}

    def begin(self, *, resume: bool) -> None:
        """Write down what is going to be done, which shows that the store can be written to."""
        plan = f"{RECORDS}/{PLAN}"
        if self._names and plan not in self._names:
            raise ConfigError(f"{self.shown}: exists. Choose another place, or remove it.", field="out")
        if self.finished:
            if not resume:
                refuse_unfinished(self.shown)
            require_same(self.shown, json.loads(self._store.read(plan)), self.plan)
        else:
            self._store.write(plan, to_json(asdict(self.plan)).encode())

    def record(self, entry: PartRecord) -> None:
        """Send a finished part, then its record."""
        part = self.part(entry.part)
        self._store.put(part, part.name)
        self._store.write(_name_record(entry.part), to_json(asdict(entry)).encode())
        self.finished[entry.part] = entry
        part.unlink()

    def finish(self, count: int) -> None:
        """Remove parts of an earlier, longer input, and all records."""
        parts = {self.part(number).name for number in range(1, count + 1)}
        names = self._store.list_names()
        if missing := sorted(parts - names):
            raise DataError(
                f"{self.shown}: {missing[0]} is missing, though it was written. Resume to make it again.",
                field="resume",
            )
        records = {name for name in names if name.startswith(f"{RECORDS}/")}
        # The plan goes last: without it, the folder is a finished one.
        self._store.remove(
            [*sorted(names - parts - records), *sorted(records, key=lambda name: PLAN in name)]
        )

    def give_up(self) -> None:
        """Leave nothing behind if no part is finished."""
        if not self.finished:
            with suppress(ConfigError):
                self._store.remove(name for name in self._store.list_names() if name.startswith(RECORDS))


def is_stored(store: RemoteFolder) -> bool:
    """Return whether a finished output is in the store."""
    names = store.list_names()
    return bool(names) and f"{RECORDS}/{PLAN}" not in names


@contextmanager
def open_stored(store: RemoteFolder, plan: WorkPlan, *, resume: bool) -> Iterator[StoredWork]:
    """Begin, or go on with, the work for an output in a store.

    Raises:
        ConfigError: If the store refuses, if something else is there, if there are finished parts and nobody wants to
            resume, or if they were made with other settings.
    """
    with TemporaryDirectory(prefix="rationalize-") as folder:
        make_folder(Path(folder) / PARTS)
        work = StoredWork(Path(folder), plan, store)
        work.begin(resume=resume)
        try:
            yield work
        except BaseException:
            work.give_up()
            raise


def _name_record(number: int) -> str:
    return f"{RECORDS}/part-{number:05d}.json"
