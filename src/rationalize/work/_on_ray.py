"""Tasks on a Ray cluster."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rationalize.errors import BusyError
from rationalize.files import make_folder, remove_folder, write_text
from rationalize.locks import check_free
from rationalize.work._luggage import bring_home, pack, unpack
from rationalize.work.ray_cluster import RayCluster
from rationalize.work.resources import Resources
from rationalize.work.workplace import Task, TaskLost

OURS = ".ray-"
"""What is in the home folder for the time being begins with this."""
STOP_S = 30.0
"""How long a task may take to save where it is."""
BUSY_S = 60.0
"""How long a lost worker may take to notice that its node is gone, and to let go of its folder."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """What comes back from a worker: what went wrong, and its files if the home folder is out of its reach."""

    problem: str | None
    packed: bytes | None


class OnRay:
    """A cluster. A task whose worker sees the home folder works right there; else its files travel with it."""

    slots: int | None = None
    is_here = False

    def __init__(self, cluster: RayCluster, resources: Resources, home: Path) -> None:
        self._ray, self._cluster = cluster.ray, cluster
        self._home, self._resources = home, resources
        self._token: Path | None = None
        self._all_see_home = True
        self._begun: dict[Future[Any], tuple[Task, Any]] = {}
        # Ray itself would begin a lost task again, without a word and, for lack of memory, without end.
        self._remote = self._ray.remote(num_cpus=resources.cpus, num_gpus=resources.gpus, max_retries=0)(
            _do_there
        )

    def submit(self, task: Task) -> Future[str | None]:
        """Put a task into the cluster's queue."""
        token = self._token or self._settle()
        packed = [] if self._all_see_home else [self._ray.put(pack(task.files))]
        ref = self._remote.remote(task, token, Path.cwd(), packed, self._resources)
        future: Future[str | None] = ref.future()
        self._begun[future] = task, ref
        return future

    def take(self, future: Future[str | None]) -> str | None:
        """Return what a task returned; its files are in their places then."""
        from ray.exceptions import RayError, RayTaskError

        task, _ = self._begun.pop(future)
        try:
            answer: Any = future.result()
        except RayTaskError as error:
            raise error.cause from None
        except RayError:  # a worker, a node or an object is gone
            raise TaskLost from None
        if answer.packed is not None:
            with TemporaryDirectory(dir=self._home, prefix=OURS) as scratch:
                bring_home(answer.packed, task.files, Path(scratch))
        return None if answer.problem is None else str(answer.problem)

    def stop(self) -> None:
        """Let all tasks save where they are, and end those that do not."""
        refs = [ref for _, ref in self._begun.values()]
        if not refs:
            return
        for ref in refs:
            self._ray.cancel(ref)
        _, left = self._ray.wait(refs, num_returns=len(refs), timeout=STOP_S)
        for ref in left:
            self._ray.cancel(ref, force=True)
        self._begun.clear()

    def close(self) -> None:
        """Remove what only the time being needed."""
        if self._token is not None:
            self._token.unlink(missing_ok=True)

    def _settle(self) -> Path:
        """Find out whether every node sees the home folder."""
        home = self._home.resolve()
        make_folder(home)
        for leftover in home.glob(f"{OURS}*"):
            remove_folder(leftover) if leftover.is_dir() else leftover.unlink()
        self._token = home / f"{OURS}{uuid.uuid4().hex}"
        write_text(self._token, "workers that see this file work here\n")
        self._all_see_home = all(self._cluster.ask_all(_sees, self._token).values())
        return self._token


def _sees(token: Path) -> bool:
    return token.is_file()


def _do_there(
    task: Task, token: Path, begun_in: Path, packed: Sequence[Any], resources: Resources
) -> _Answer:
    """Do a task on a worker."""
    import torch

    if not resources.gpus:
        os.environ["CUDA_VISIBLE_DEVICES"] = ""  # GPUs that were not asked for belong to somebody else
    torch.set_num_threads(max(1, int(resources.cpus)))
    with suppress(OSError):
        os.chdir(begun_in)  # what a plan names from there is found from there
    if token.is_file():
        _wait_until_free(task.files)
        return _Answer(task.work(None), None)
    with TemporaryDirectory(prefix="rationalize-") as scratch:
        import ray

        for ref in packed:
            unpack(ray.get(ref), Path(scratch))
        problem = task.work(Path(scratch))
        return _Answer(problem, pack({name: Path(scratch) / name for name in task.files}))


def _wait_until_free(files: Mapping[str, Path]) -> None:
    """Wait for a worker that was lost, but has not ended yet; after that, the task says who holds the folder."""
    end = time.monotonic() + BUSY_S
    while time.monotonic() < end:
        try:
            for path in files.values():
                check_free(path)
        except BusyError:
            time.sleep(0.5)
        else:
            return
