"""Work that is not finished yet: a folder beside the output with the parts so far, and what they were made from."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn

from rationalize.config import Precision
from rationalize.corpus._chunk import Chunk, PartRecord
from rationalize.corpus.part_formats import PartFormat
from rationalize.errors import ConfigError, DataError
from rationalize.files import json_line, make_folder, name_in_errors, read_json, sweep_parts, sync, write_json
from rationalize.locks import try_lock

PLAN, JOURNAL, PARTS = "plan.json", "journal.jsonl", "parts"


@dataclass(frozen=True, slots=True)
class WorkPlan:
    """What decides the output, besides the input.

    Attributes:
        model: SHA-256 of the model.
        format: Format of the parts.
        truncate: Whether only what fits the encoder is read.
        batch_tokens: Word pieces read at once.
        precision: Of matrix products inside encoders.
        chunk_rows: Most rows in a part.
        guard_formulas: Whether cells that a spreadsheet would run are made harmless.
        min_confidence: The confidence that labels need, by label.
        version: Version of this package.
    """

    model: str
    format: PartFormat
    truncate: bool
    batch_tokens: int | None
    precision: Precision
    chunk_rows: int
    guard_formulas: bool
    min_confidence: dict[str, float]
    version: str


class Unfinished:
    """The folder of unfinished work; made by `open_unfinished`."""

    def __init__(self, folder: Path, plan: WorkPlan) -> None:
        self.folder, self.plan, self.shown = folder, plan, str(folder)
        self.finished = self._find_finished()

    def _find_finished(self) -> dict[int, PartRecord]:
        found = {record.part: record for record in _read_journal(self.folder / JOURNAL)}
        return {part: each for part, each in found.items() if self.part(part).is_file()}

    def part(self, number: int) -> Path:
        """Return the file of a part."""
        return locate_part(self.folder, self.plan.format, number)

    def has(self, chunk: Chunk) -> bool:
        """Return whether a chunk was done before.

        Raises:
            DataError: If the input is no longer what that part was made from.
        """
        record = self.finished.get(chunk.number)
        if record is not None and record.sha256 != chunk.digest:
            raise DataError(
                f"{chunk}: the input is not what it was when this part was finished. Expected the same rows in the "
                f"same order; remove {self.shown} to begin again."
            )
        return record is not None

    def record(self, entry: PartRecord) -> None:
        """Write down that a part is finished."""
        with (self.folder / JOURNAL).open("a", encoding="utf-8") as file:
            file.write(json_line(asdict(entry)))
        self.finished[entry.part] = entry

    def list_parts(self, count: int) -> list[Path]:
        """Return the files of all parts, in their order; remove those of an earlier, longer input."""
        parts = [self.part(number) for number in range(1, count + 1)]
        missing = next((part for part in parts if not part.is_file()), None)
        if missing is not None:
            raise DataError(
                f"{missing}: missing, though it was written. Resume to make it again.", field="resume"
            )
        for surplus in set((self.folder / PARTS).iterdir()) - set(parts):
            surplus.unlink()
        return parts

    def publish(self, out: Path) -> None:
        """Make the folder of parts the output: nothing but parts, so that other tools read the folder as one table."""
        (self.folder / PARTS).replace(out)
        sync(out.parent)


@contextmanager
def open_unfinished(out: Path, plan: WorkPlan, *, resume: bool) -> Iterator[Unfinished]:
    """Begin, or go on with, the work for an output; its folder is gone afterwards unless it has finished parts.

    Raises:
        ConfigError: If somebody is at work there, if there are finished parts and nobody wants to resume, or if they
            were made with other settings.
    """
    folder = locate_unfinished(out)
    is_useless = not folder.exists()
    try:
        with name_in_errors(out, folder):  # what was to be written, not where it was while it was made
            make_folder(folder / PARTS)
            is_useless = False
            with _hold(folder):
                work = Unfinished(folder, plan)
                try:
                    _begin(work, resume=resume)
                    yield work
                    is_useless = True
                finally:
                    is_useless = is_useless or not work.finished
    finally:
        if is_useless:
            shutil.rmtree(folder, ignore_errors=True)


def _begin(work: Unfinished, *, resume: bool) -> None:
    if work.finished:
        if not resume:
            refuse_unfinished(work.shown)
        require_same(work.shown, read_json(work.folder / PLAN), work.plan)
    else:
        (work.folder / JOURNAL).unlink(missing_ok=True)
        write_json(work.folder / PLAN, asdict(work.plan))
    sweep_parts(work.folder / PARTS)


@contextmanager
def _hold(folder: Path) -> Iterator[None]:
    with try_lock(folder / ".lock") as alone:
        if not alone:
            raise ConfigError(f"{folder}: another process is at work here. Wait for it.", field="out")
        yield


def locate_part(folder: Path, format: PartFormat, number: int) -> Path:
    """Return the file of a part in the folder of unfinished work."""
    return folder / PARTS / f"part-{number:05d}.{format}"


def locate_unfinished(out: Path) -> Path:
    """Return the folder of the unfinished work for an output; it may not exist."""
    return out.with_name(f"{out.name}.unfinished")


def refuse_unfinished(shown: str) -> NoReturn:
    """Refuse to begin where finished parts are."""
    raise ConfigError(
        f"{shown}: has parts of work that was interrupted. Resume it, or remove the folder to begin again.",
        field="resume",
    )


def require_same(shown: str, before: Mapping[str, Any], plan: WorkPlan) -> None:
    """Refuse to go on with parts that were made in another way."""
    other = [name for name, value in asdict(plan).items() if before.get(name) != value]
    if other:
        seen = ", ".join(f"{name}: {before.get(name)!r} then, {getattr(plan, name)!r} now" for name in other)
        raise ConfigError(
            f"{shown}: the finished parts were made in another way ({seen}). Use the same model and settings, or "
            "remove the folder to begin again.",
            field=tuple(other),
        )


def _read_journal(path: Path) -> Iterator[PartRecord]:
    if not path.is_file():
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue  # the last line of a process that was killed: its part is done again
        yield PartRecord(**row)
