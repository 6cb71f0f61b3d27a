"""Which of the processes that serve together can answer: each says so in a folder that they share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""Where prometheus_client looks for the same folder: there, processes also add their counters up."""


@dataclass(frozen=True)
class Attendance:
    """One process among those that serve together.

    Attributes:
        folder: Shared by all of them.
        number: This one's, from 0.
        workers: How many there are.
    """

    folder: Path
    number: int
    workers: int

    def report(self, *, ready: bool) -> None:
        """Say whether this process answers for every model."""
        if ready:
            self._locate(self.number).touch()
        else:
            self._locate(self.number).unlink(missing_ok=True)

    def is_complete(self) -> bool:
        """Return whether all processes do."""
        return all(self._locate(number).exists() for number in range(self.workers))

    def _locate(self, number: int) -> Path:
        return self.folder / f"ready-{number}"
