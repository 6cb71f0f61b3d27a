"""A pool of processes that do chunks, with as many in memory as there are processes.

Not `concurrent.futures`: its pool is broken as a whole when one process is killed, and does not say which work is lost.
"""

from __future__ import annotations

import signal
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess

from rationalize.children import end_with_parent
from rationalize.corpus._chunk import Chunk, Work
from rationalize.corpus._failure import ChunkFailure, attempt
from rationalize.errors import ConfigError

ATTEMPTS = 2
"""Processes that a chunk may cost before it is given up."""
PATIENCE_S = 10.0  # for a process that has nothing left to do


@dataclass(slots=True)
class _Worker:
    """A process with its line to it, and what it is doing."""

    process: SpawnProcess
    line: Connection
    chunk: Chunk | None = None
    attempt: int = 0


def run_in_processes(chunks: Iterable[Chunk], work: Work, workers: int) -> Iterator[Chunk]:
    """Yield each chunk when it is done, in whatever order; a chunk is read only when a process is free for it.

    Raises:
        RationalizeError: If the work raises one, or a chunk has cost two processes.
    """
    pool = _Pool(work, workers)
    try:
        for chunk in chunks:
            yield from pool.make_room()
            pool.give(chunk)
        yield from pool.finish()
    except BaseException:
        pool.stop()
        raise
    pool.close()


class _Pool:
    def __init__(self, work: Work, size: int) -> None:
        self._work, self._size = work, size
        self._context = get_context("spawn")
        self._workers: list[_Worker] = []

    def make_room(self) -> Iterator[Chunk]:
        """Wait until a chunk can be given; yield those that are done meanwhile."""
        while len(self._workers) == self._size and all(each.chunk for each in self._workers):
            yield from self._collect()

    def finish(self) -> Iterator[Chunk]:
        """Wait for all chunks."""
        while any(each.chunk for each in self._workers):
            yield from self._collect()

    def give(self, chunk: Chunk, attempt: int = 1) -> None:
        """Give a chunk to a free process, or to a new one."""
        worker = next((each for each in self._workers if each.chunk is None), None)
        if worker is None:
            worker = self._start()
        worker.chunk, worker.attempt = chunk, attempt
        try:
            worker.line.send(chunk)
        except OSError:  # it has died idle
            self._replace(worker)

    def _start(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_serve, args=(theirs, self._work), daemon=True)
        process.start()
        theirs.close()  # or the end of the process would not be the end of the line
        worker = _Worker(process, ours)
        self._workers.append(worker)
        return worker

    def _collect(self) -> Iterator[Chunk]:
        busy = {each.line: each for each in self._workers if each.chunk}
        for line in wait(list(busy)):
            worker = busy[line]  # type: ignore[index]  # only lines were given
            try:
                failure: ChunkFailure | None = worker.line.recv()
            except (EOFError, OSError):
                self._replace(worker)
                continue
            if failure is not None:
                raise failure.to_error()
            chunk, worker.chunk = worker.chunk, None
            if chunk is not None:
                yield chunk

    def _replace(self, worker: _Worker) -> None:
        """Give the chunk of a process that died to a new one, once."""
        self._workers.remove(worker)
        worker.line.close()
        worker.process.join()
        chunk = worker.chunk
        if chunk is None:
            return
        if worker.attempt >= ATTEMPTS:
            raise ConfigError(
                f"{chunk}: the process that worked on it was ended {ATTEMPTS} times, the last time with code "
                f"{worker.process.exitcode}, perhaps for lack of memory. What is finished is kept: resume with fewer "
                "workers.",
                field=("resume", "workers"),
            )
        self.give(chunk, worker.attempt + 1)

    def close(self) -> None:
        """Let the processes end by themselves."""
        for worker in self._workers:
            worker.line.close()
        for worker in self._workers:
            worker.process.join(PATIENCE_S)
        self.stop()

    def stop(self) -> None:
        """End all processes now; each leaves at most a part that it has not finished writing."""
        for worker in self._workers:
            worker.process.terminate()
        for worker in self._workers:
            worker.process.join()
            worker.line.close()
        self._workers.clear()


def _serve(line: Connection, work: Work) -> None:
    """Do chunks until the other side is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process; the first one decides
    end_with_parent()
    while True:
        try:
            line.send(attempt(work, line.recv()))
        except (EOFError, OSError):
            return
