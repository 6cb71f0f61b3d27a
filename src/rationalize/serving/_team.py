"""Several processes that serve on one socket, each with a service of its own.

Python runs one thread of a process at a time, and much of a small model's time is Python, as is all of HTTP. So
processes side by side answer more calls, each at the price of another copy of the models. Whoever is free takes the
next connection. What is limited is limited in each; counters are added up.
"""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from multiprocessing import allow_connection_pickling, get_context
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from socket import socket
from tempfile import TemporaryDirectory

from rationalize.children import end_with_parent, share_cores
from rationalize.errors import ConfigError
from rationalize.serving._attendance import VARIABLE, Attendance
from rationalize.serving.serve_settings import ServeSettings

log = logging.getLogger("rationalize.serving")

SHORT_LIFE_S = 10.0
SHORT_LIVES = 3  # one after the other: the next one would not live longer


def run_team(settings: ServeSettings, models: Mapping[str, Path], listener: socket) -> None:
    """Serve on a socket until SIGTERM or SIGINT, in `settings.workers` processes.

    Raises:
        ConfigError: If processes end as soon as they are started.
    """
    allow_connection_pickling()
    with (
        TemporaryDirectory(prefix="rationalize-serve-") as folder,
        _prepare_environment(folder, settings.workers),
    ):
        _Team(settings, models, listener, Path(folder)).run()


class _Team:
    """Starts processes, replaces those that end, and ends them all at a stop signal."""

    def __init__(
        self, settings: ServeSettings, models: Mapping[str, Path], listener: socket, folder: Path
    ) -> None:
        self._settings = settings
        self._models = dict(models)
        self._listener = listener
        self._folder = folder
        self._processes: dict[int, SpawnProcess] = {}
        self._started: dict[int, float] = {}
        self._short_lives = 0
        self._stopping = False

    def run(self) -> None:
        for each in (signal.SIGTERM, signal.SIGINT):
            signal.signal(each, self._stop)
        try:
            for number in range(self._settings.workers):
                self._start(number)
            while not self._stopping:
                wait([process.sentinel for process in self._processes.values()], timeout=0.5)
                self._replace_ended()
        finally:
            self._end_all()

    def _stop(self, *_: object) -> None:
        self._stopping = True

    def _start(self, number: int) -> None:
        process = get_context("spawn").Process(
            target=serve_as_worker,
            args=(
                self._settings,
                self._models,
                self._listener,
                Attendance(self._folder, number, self._settings.workers),
                log.getEffectiveLevel(),
            ),
            name=f"rationalize serve, worker {number}",
        )
        process.start()
        self._processes[number], self._started[number] = process, time.monotonic()

    def _replace_ended(self) -> None:
        from prometheus_client.multiprocess import mark_process_dead

        for number, process in list(self._processes.items()):
            if process.exitcode is None or self._stopping:
                continue
            short = time.monotonic() - self._started[number] < SHORT_LIFE_S
            self._short_lives = self._short_lives + 1 if short else 0
            mark_process_dead(process.pid, str(self._folder))  # type: ignore[no-untyped-call]
            Attendance(self._folder, number, self._settings.workers).report(ready=False)
            if self._short_lives == SHORT_LIVES:
                raise ConfigError(
                    f"workers: {SHORT_LIVES} processes of the service ended as soon as they were started, the last "
                    f"one with {process.exitcode}. Expected room in memory for {self._settings.workers} copies of "
                    "every model; start with fewer workers.",
                    field="workers",
                )
            log.error("worker %s ended with %s; another one is started", number, process.exitcode)
            self._start(number)

    def _end_all(self) -> None:
        for process in self._processes.values():
            process.terminate()
        end = time.monotonic() + self._settings.limits.request_seconds + 10
        for process in self._processes.values():
            process.join(max(0.0, end - time.monotonic()))
            process.kill()


def serve_as_worker(
    settings: ServeSettings, models: Mapping[str, Path], listener: socket, attendance: Attendance, level: int
) -> None:
    """Serve in this process, one of a team, until SIGTERM, or until the one that started it is gone."""
    from rationalize.serving.app import create_app
    from rationalize.serving.run_service import serve_on

    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("rationalize").setLevel(level)
    end_with_parent()
    with suppress(KeyboardInterrupt):  # the terminal interrupts every process; this one has finished its work
        serve_on(create_app(settings, models, attendance=attendance), settings, listener)


@contextmanager
def _prepare_environment(folder: str, workers: int) -> Iterator[None]:
    """Set what processes have to know before they import anything."""
    ours = {VARIABLE: folder, "OMP_NUM_THREADS": str(share_cores(workers))}
    if "OMP_NUM_THREADS" in os.environ:
        del ours["OMP_NUM_THREADS"]
    before = {name: os.environ.get(name) for name in ours}
    os.environ.update(ours)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
