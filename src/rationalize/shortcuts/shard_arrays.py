"""Arrays about shards of a corpus, in memory or in a folder, and steps that work through the shards.

A step is a map: it sees one shard, and may leave arrays for the next step. What it returns is merged by the caller.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rationalize.children import end_with_parent
from rationalize.errors import ConfigError

T = TypeVar("T")
Step = Callable[[int], T]
"""What is done with the shard of a number."""

WHOLE = -1
"""The number under which arrays about all shards together are kept."""


@dataclass(frozen=True)
class ShardArrays:
    """Arrays by number of the shard and name. With a folder they are files there, which other processes see too."""

    folder: Path | None = None
    _held: dict[tuple[int, str], NDArray[Any]] = field(default_factory=dict)

    def save(self, number: int, name: str, values: NDArray[Any]) -> None:
        """Keep an array, in place of one with the same name."""
        if self.folder is None:
            self._held[number, name] = values
        else:
            np.save(self._locate(number, name), values, allow_pickle=False)

    def load(self, number: int, name: str, *, mapped: bool = False) -> NDArray[Any]:
        """Return an array; a mapped one is read from disk where it is used."""
        if self.folder is None:
            return self._held[number, name]
        found: NDArray[Any] = np.load(
            self._locate(number, name), mmap_mode="r" if mapped else None, allow_pickle=False
        )
        return found

    def drop(self, number: int, name: str) -> None:
        """Forget an array."""
        if self.folder is None:
            del self._held[number, name]
        else:
            self._locate(number, name).unlink()

    def join(self, name: str, count: int) -> NDArray[Any]:
        """Put the arrays of that name of all shards in a row; on disk, the row is mapped and never held at once."""
        if self.folder is None:
            return np.concatenate([self._held.pop((number, name)) for number in range(count)])
        kind = self.load(0, name, mapped=True).dtype
        path = self._locate(WHOLE, name).with_suffix(".row")
        with path.open("wb") as file:
            for number in range(count):
                self.load(number, name).tofile(file)
                self.drop(number, name)
        empty = path.stat().st_size == 0  # which cannot be mapped
        return np.zeros(0, dtype=kind) if empty else np.memmap(path, dtype=kind, mode="r+")

    def _locate(self, number: int, name: str) -> Path:
        if self.folder is None:
            raise ValueError("arrays in memory have no place")
        return self.folder / f"{'whole' if number == WHOLE else f'{number:06d}'}-{name}.npy"


def save_texts(arrays: ShardArrays, number: int, name: str, texts: list[str]) -> None:
    """Keep texts without line breaks."""
    raw = "\n".join(texts).encode("utf-8", "surrogatepass")
    arrays.save(number, name, np.frombuffer(raw, dtype=np.uint8))


def load_texts(arrays: ShardArrays, number: int, name: str) -> list[str]:
    """Return texts that were kept; none are one empty text."""
    return arrays.load(number, name).tobytes().decode("utf-8", "surrogatepass").split("\n")


class ShardCrew:
    """Runs steps on shards: here, or in several processes."""

    def __init__(self, pool: ProcessPoolExecutor | None = None) -> None:
        self._pool = pool

    def map(self, step: Step[T], count: int) -> Iterator[T]:
        """Yield the result of every shard, in order.

        Raises:
            ConfigError: If a process was ended from outside.
        """
        if self._pool is None or count < 2:
            yield from map(step, range(count))
            return
        try:
            yield from self._pool.map(step, range(count))
        except BrokenProcessPool:
            raise ConfigError(
                "workers: a process was ended, perhaps for lack of memory. Use fewer workers.",
                field="workers",
            ) from None


@contextmanager
def call_crew(workers: int = 1) -> Iterator[ShardCrew]:
    """Yield a crew of so many processes, which end with the context."""
    if workers == 1:
        yield ShardCrew()
        return
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_prepare)
    try:
        yield ShardCrew(pool)
    finally:
        pool.shutdown(cancel_futures=True)


def _prepare() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process; the first one decides
    end_with_parent()
