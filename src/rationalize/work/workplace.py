"""Tasks, the interface of a place that does them, and the one way to have them all done.

A place hands out `concurrent.futures.Future`s; which tasks may start, and which must wait for what another one is
making, is decided here for every place alike.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

ATTEMPTS = 4
"""Workers that a task may cost before it is given up."""


@dataclass(frozen=True)
class Task:
    """Work that can be sent elsewhere.

    Attributes:
        key: Its name.
        work: Does it, and returns what went wrong, if anything. A function or object of a module, since it is sent.
            It is given a folder to work in where its own files are out of reach, else None.
        files: The files and folders that it reads and writes, by their places in such a folder.
        makes: Names of what it makes for other tasks, too; the first one makes it, and the others wait for that.
    """

    key: str
    work: Callable[[Path | None], str | None]
    files: Mapping[str, Path] = field(default_factory=dict)
    makes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """What became of a task; `problem`: what went wrong, if anything."""

    key: str
    problem: str | None


class TaskLost(Exception):  # not a mistake of anybody
    """The worker of a task is gone; another one can do it."""


class Workplace(Protocol):
    """A place where tasks are done.

    Attributes:
        slots: How many tasks it takes at a time; None: any number, it has a queue of its own.
        is_here: Whether tasks run in this process, and so can talk to its terminal.
    """

    slots: int | None
    is_here: bool

    def submit(self, task: Task) -> Future[str | None]:
        """Begin a task."""
        ...

    def take(self, future: Future[str | None]) -> str | None:
        """Return what a finished task returned, or raise what it raised.

        Raises:
            TaskLost: If it can be tried again.
        """
        ...

    def stop(self) -> None:
        """End what is running; a training saves where it is."""
        ...


def run_tasks(
    place: Workplace, tasks: Sequence[Task], on_lost: Callable[[Task], None] = lambda task: None
) -> Generator[TaskOutcome]:
    """Yield the outcome of each task when it is done; whatever ends this early also ends the tasks.

    Args:
        place: Where they run.
        tasks: The tasks, begun in this order.
        on_lost: Called when the worker of a task is lost and the task is begun again.
    """
    waiting = list(tasks)
    made: set[str] = set()
    lost: dict[str, int] = {}
    running: dict[Future[str | None], Task] = {}
    try:
        while waiting or running:
            for task in list(waiting):
                making = {name for each in running.values() for name in each.makes} - made
                if place.slots is not None and len(running) >= place.slots:
                    break
                if making.isdisjoint(task.makes):
                    waiting.remove(task)
                    running[place.submit(task)] = task
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                task = running.pop(future)
                try:
                    problem = place.take(future)
                except TaskLost:
                    lost[task.key] = lost.get(task.key, 0) + 1
                    if lost[task.key] < ATTEMPTS:
                        waiting.insert(0, task)
                        on_lost(task)
                        continue
                    problem = f"its worker was lost {ATTEMPTS} times, perhaps for lack of memory"
                if problem is None:
                    made.update(task.makes)
                yield TaskOutcome(task.key, problem)
    finally:
        if running:
            place.stop()
