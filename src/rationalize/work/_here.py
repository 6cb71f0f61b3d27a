"""One task after the other, in this process."""

from __future__ import annotations

from concurrent.futures import Future

from rationalize.work.workplace import Task


class Here:
    """This process. A task is done when it is submitted, and what it raises is raised then."""

    slots: int | None = 1
    is_here = True

    def submit(self, task: Task) -> Future[str | None]:
        """Do a task."""
        future: Future[str | None] = Future()
        future.set_result(task.work(None))
        return future

    def take(self, future: Future[str | None]) -> str | None:
        """Return what the task returned."""
        return future.result()

    def stop(self) -> None:
        """Nothing is running."""
