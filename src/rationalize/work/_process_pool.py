"""Several tasks at once, in processes of this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context

from rationalize.children import end_with_parent, is_orphan, share_cores
from rationalize.errors import TrainingError
from rationalize.work.workplace import Task


class ProcessPool:
    """Processes that share the cores of this machine."""

    is_here = False

    def __init__(self, pool: ProcessPoolExecutor, jobs: int) -> None:
        self.slots: int | None = jobs
        self._pool, self._others = pool, active_children()

    def submit(self, task: Task) -> Future[str | None]:
        """Give a task to a process."""
        return self._pool.submit(_work, task.work)

    def take(self, future: Future[str | None]) -> str | None:
        """Return what a task returned."""
        try:
            return future.result()
        except BrokenProcessPool:
            raise TrainingError(
                "a training process was killed, perhaps for lack of memory. What is finished is kept, and the rest "
                "goes on from its last checkpoints: run the same again, with fewer jobs if memory is short.",
                field="jobs",
            ) from None

    def stop(self) -> None:
        """Pass an interrupt on to the processes, which then save where they are; else we would wait for them."""
        for process in active_children():
            if process not in self._others:
                process.terminate()


@contextmanager
def open_pool(jobs: int) -> Iterator[ProcessPool]:
    """Open a pool of so many processes."""
    with ProcessPoolExecutor(jobs, get_context("spawn"), _prepare, (share_cores(jobs),)) as pool:
        yield ProcessPool(pool, jobs)


def _prepare(threads: int) -> None:
    import torch

    torch.set_num_threads(threads)
    end_with_parent()


def _work(work: Callable[[None], str | None]) -> str | None:
    try:
        return work(None)
    finally:
        if is_orphan():  # what was told to save has saved; the pool would now wait for ever for the next task
            os._exit(1)
