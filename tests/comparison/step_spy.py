"""Work for tests: it notes every training step that is really made, and its worker is killed once, at a step."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from rationalize.training.loop import Trainer


@dataclass(frozen=True)
class StepSpy:
    """Does a task's work, and writes each step's number to a file."""

    work: Callable[[Path | None], str | None]
    file: Path
    killed_at: int

    def __call__(self, scratch: Path | None) -> str | None:
        record = Trainer._record_step
        is_first = not self.file.exists()

        def note(trainer, phase, losses):
            record(trainer, phase, losses)
            with self.file.open("a", encoding="utf-8") as file:
                file.write(f"{trainer.state.step}\n")
            if is_first and trainer.state.step == self.killed_at:
                os.kill(os.getpid(), signal.SIGKILL)

        with mock.patch.object(Trainer, "_record_step", note):
            return self.work(scratch)
