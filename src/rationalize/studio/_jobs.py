"""Long work in a process of its own: started, watched, stopped, found again after a restart.

A job is a folder: `job.json` says what runs, `log.txt` what it prints, `result.txt` what it returns, and the lock
`.job.lock` is held by the process as long as it lives, whoever has started it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from rationalize.files import read_json, write_json
from rationalize.locks import try_lock

JOB, LOG, RESULT, LOCK = "job.json", "log.txt", "result.txt", ".job.lock"
LOG_CHARS = 20_000

JobState = Literal["running", "stopped", "failed", "finished"]


@dataclass(frozen=True, slots=True)
class JobRecord:
    """What is on disk about a job.

    Attributes:
        words: The command's words.
        process: Id of the process.
        started: When, in seconds since 1970.
        stopped: Whether a person has asked it to stop.
    """

    words: tuple[str, ...]
    process: int
    started: float
    stopped: bool = False


class Job:
    """One piece of long work.

    Args:
        folder: Where its files are.
        runner: What starts a process that takes the lock (next word) and runs a command (the words after it).
    """

    def __init__(self, folder: Path, runner: Sequence[str]) -> None:
        self.folder = folder
        self._runner = tuple(runner)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def record(self) -> JobRecord | None:
        """What was started last; None: nothing."""
        path = self.folder / JOB
        if not path.is_file():
            return None
        row = read_json(path)
        return JobRecord(tuple(row["words"]), row["process"], row["started"], row["stopped"])

    def start(self, words: Sequence[str]) -> None:
        """Run a command of `rationalize` in the background."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / LOCK).touch()
        (self.folder / RESULT).unlink(missing_ok=True)
        with (self.folder / LOG).open("ab") as log, (self.folder / f"{RESULT}.part").open("wb") as result:
            self._process = subprocess.Popen(
                [*self._runner, str(self.folder), *words],
                stdin=subprocess.DEVNULL,
                stdout=result,
                stderr=log,
                start_new_session=True,  # Ctrl-C in the studio's terminal is for the studio
            )
        self._write(JobRecord(tuple(words), self._process.pid, time.time()))

    def stop(self, patience_s: float = 20.0) -> None:
        """Ask the process to stop, and wait until it has."""
        record = self.record
        if record is None or self.state != "running":
            return
        self._write(JobRecord(record.words, record.process, record.started, stopped=True))
        for sign in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
            try:
                os.kill(record.process, sign)
            except ProcessLookupError:
                break
            end = time.monotonic() + patience_s
            while self.is_alive and time.monotonic() < end:
                time.sleep(0.05)

    @property
    def is_alive(self) -> bool:
        """Whether the process runs, also one that an earlier studio has started."""
        if self._process is not None:
            return self._process.poll() is None
        if not (self.folder / LOCK).is_file():
            return False
        with try_lock(self.folder / LOCK) as free:
            return not free

    @property
    def state(self) -> JobState | None:
        """How the job stands; None: there is none."""
        record = self.record
        if record is None:
            return None
        if self.is_alive:
            return "running"
        if (self.folder / RESULT).is_file():
            return "finished"
        return "stopped" if record.stopped or self._process is None else "failed"

    def read_log(self) -> str:
        """Read the end of what it has printed."""
        path = self.folder / LOG
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - LOG_CHARS))
            return file.read().decode("utf-8", "replace")

    def _write(self, record: JobRecord) -> None:
        write_json(self.folder / JOB, asdict(record))
