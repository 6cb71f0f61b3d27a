"""Several tasks at once, in processes of this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context

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
        return self._pool.submit(task.work, None)

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
    threads = max(1, (os.cpu_count() or 1) // jobs)
    with ProcessPoolExecutor(jobs, get_context("spawn"), _share_threads, (threads,)) as pool:
        yield ProcessPool(pool, jobs)


def _share_threads(threads: int) -> None:
    import torch

    torch.set_num_threads(threads)
