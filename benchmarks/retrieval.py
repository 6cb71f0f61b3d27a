"""What the search for near words costs at scale, beside brute force in the same run: `python -m benchmarks.retrieval`.

The stored vectors are random, a few of them twice, so that ties are searched for, too.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections.abc import Callable

import numpy as np

from benchmarks.speed.clock import median_seconds
from benchmarks.speed.machine import peak_megabytes
from rationalize.inference.retrieval import VectorStore

MEGABYTE = 2**20


def vectors(stored: int, queries: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Vectors to store and to look for; half of the latter are stored, and stored again later on."""
    random = np.random.default_rng(0)
    store = random.standard_normal((stored, width), dtype=np.float32)
    again = random.choice(stored // 2, queries, replace=False)
    store[stored // 2 + again] = store[again]
    wanted = random.standard_normal((queries, width), dtype=np.float32)
    wanted[::2] = store[again[::2]]
    return store, wanted


def brute_force(store: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """The nearest stored vector of each query, the first of equally near ones."""
    return np.array([((store - query) ** 2).sum(1).argmin() for query in queries])


def ours(store: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """The same by the package."""
    return VectorStore(store).nearest(queries)[1][:, 0]


def extra_memory(
    search: Callable[[np.ndarray, np.ndarray], np.ndarray], sizes: tuple[int, int, int]
) -> float:
    """Megabytes that a search adds to the vectors themselves; to be called in a process of its own."""
    store, queries = vectors(*sizes)
    search(store[:500], queries[:8])  # libraries are loaded, threads are there
    before = peak_megabytes()
    search(store, queries)
    return peak_megabytes() - before


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stored", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=64)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    sizes = (arguments.stored, arguments.queries, arguments.width)
    # Before this process has the vectors: a child begins with the peak of its parent.
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        base, own = (pool.apply(extra_memory, (search, sizes)) for search in (brute_force, ours))
    store, queries = vectors(*sizes)
    print(
        f"peak memory beyond the vectors: {base:.0f} MB / {own:.0f} MB ({store.nbytes / MEGABYTE:.0f} MB stored)"
    )
    start = time.perf_counter()
    index = VectorStore(store)
    print(f"build: {time.perf_counter() - start:.2f} s for {sizes[0]} vectors of {sizes[2]} numbers")
    seconds = median_seconds(
        {"base": lambda: brute_force(store, queries), "ours": lambda: index.nearest(queries)},
        arguments.rounds,
    )
    print(
        f"{sizes[1]} queries: brute force / ours: {seconds['base'] / seconds['ours']:.1f}x "
        f"({seconds['base']:.3f} s / {seconds['ours']:.3f} s)"
    )
    wrong = int((index.nearest(queries)[1][:, 0] != brute_force(store, queries)).sum())
    print(f"answers that differ from brute force: {wrong} of {sizes[1]}")
    if wrong:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
