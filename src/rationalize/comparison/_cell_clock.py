"""The time that a cell has taken, in all processes that worked on it: kept on disk, since any of them may be killed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from rationalize.comparison._cell_result import Seconds
from rationalize.files import read_json, write_json
from rationalize.training.loop import Display

EVERY_S = 5.0
"""Seconds between notes; a killed process loses at most these."""


class CellClock:
    """Counts a cell's seconds of training and scoring, beginning with those of earlier processes."""

    def __init__(self, path: Path, now: Callable[[], float] = time.monotonic) -> None:
        self.path, self._now = path, now
        self._spent = asdict(_read_seconds(path))
        self._part: Literal["training", "scoring"] = "training"
        self._since = self._noted = now()
        self._note()

    def score(self) -> None:
        """Count what follows as scoring."""
        self._add()
        self._part = "scoring"

    def tick(self) -> None:
        """Write the time down, now and then."""
        if self._now() - self._noted >= EVERY_S:
            self._note()

    def read(self) -> Seconds:
        """Return the time so far."""
        self._add()
        return Seconds(round(self._spent["training"], 1), round(self._spent["scoring"], 1))

    def close(self) -> None:
        """Forget the time: the cell's result has it."""
        self.path.unlink(missing_ok=True)

    def _add(self) -> None:
        now = self._now()
        self._spent[self._part] += now - self._since
        self._since = now

    def _note(self) -> None:
        self._add()
        self._noted = self._since
        write_json(self.path, self._spent)


def _read_seconds(path: Path) -> Seconds:
    try:
        values = read_json(path)
        return Seconds(float(values["training"]), float(values["scoring"]))
    except (OSError, ValueError, KeyError, TypeError):
        return Seconds(0.0, 0.0)


@dataclass(frozen=True)
class TickingDisplay:
    """A display that also keeps a cell's clock."""

    shown: Display
    clock: CellClock

    def start(self, total_steps: int, resumed_at: int = 0) -> None:
        """Show that training starts, or resumes at a step."""
        self.shown.start(total_steps, resumed_at)

    def step(self, phase: str, step: int, losses: Mapping[str, float]) -> None:
        """Show that a batch is done."""
        self.clock.tick()
        self.shown.step(phase, step, losses)

    def epoch(self, epoch: int, dev: Mapping[str, float], best: bool) -> None:
        """Show that an epoch is done and scored."""
        self.clock.tick()
        self.shown.epoch(epoch, dev, best)

    def message(self, text: str) -> None:
        """Show a line of text."""
        self.shown.message(text)
