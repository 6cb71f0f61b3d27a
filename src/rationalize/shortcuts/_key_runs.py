"""Count numbers over all shards: sorted runs, one per shard, merged piece by piece so that no more is held at once."""

from __future__ import annotations

import numpy as np

from rationalize.shortcuts.phrases import Ints
from rationalize.shortcuts.shard_arrays import ShardArrays

MOST_MERGED = 2_000_000
"""Entries of all runs that are merged at once."""
SAMPLED = 1_000
"""Keys of a run that are looked at to cut all runs into pieces of about the same size."""


def save_run(arrays: ShardArrays, number: int, keys: Ints) -> None:
    """Keep the keys of a shard as a sorted run with counts; keys below 0 are left out."""
    found, counts = np.unique(keys[keys >= 0], return_counts=True)
    save_counted_run(arrays, number, found, counts)


def save_counted_run(arrays: ShardArrays, number: int, keys: Ints, counts: Ints) -> None:
    """Keep sorted keys and their counts as the run of a shard."""
    arrays.save(number, "run-keys", keys)
    arrays.save(number, "run-counts", counts)


def merge_runs(arrays: ShardArrays, count: int, least: int) -> tuple[Ints, Ints]:
    """Return the keys that all runs together have at least `least` times, sorted, with their counts.

    Nothing is left out before all counts are added, so no key is missed.
    """
    names = ("run-keys", "run-counts")
    runs = [[arrays.load(number, name, mapped=True) for name in names] for number in range(count)]
    edges = _choose_edges([keys for keys, _ in runs])
    parts = []
    for low, high in zip([None, *edges], [*edges, None], strict=True):
        cuts = [_cut(keys, counts, low, high) for keys, counts in runs]
        keys, inverse = np.unique(np.concatenate([keys for keys, _ in cuts]), return_inverse=True)
        total = np.bincount(inverse, np.concatenate([counts for _, counts in cuts]), len(keys))
        kept = total >= least
        parts.append((keys[kept], total[kept].astype(np.int64)))
    del runs
    for number in range(count):
        for name in names:
            arrays.drop(number, name)
    return np.concatenate([keys for keys, _ in parts]), np.concatenate([counts for _, counts in parts])


def _choose_edges(runs: list[Ints]) -> list[int]:
    """Choose the keys at which the runs are cut."""
    pieces = -(-sum(map(len, runs)) // MOST_MERGED)
    if pieces < 2:
        return []
    steps = [max(1, len(run) // SAMPLED) for run in runs]
    seen = np.concatenate([run[::step] for run, step in zip(runs, steps, strict=True)])
    weights = np.repeat(steps, [len(run[::step]) for run, step in zip(runs, steps, strict=True)])
    order = np.argsort(seen, kind="stable")
    before = np.cumsum(weights[order])
    places = np.searchsorted(before, before[-1] * np.arange(1, pieces) / pieces)
    edges: list[int] = np.unique(seen[order][places]).tolist()
    return edges


def _cut(keys: Ints, counts: Ints, low: int | None, high: int | None) -> tuple[Ints, Ints]:
    first = 0 if low is None else int(np.searchsorted(keys, low))
    last = len(keys) if high is None else int(np.searchsorted(keys, high))
    return np.asarray(keys[first:last]), np.asarray(counts[first:last])


def look_up(known: Ints, keys: Ints) -> Ints:
    """Return the place of each key among the known ones, which are sorted; -1: it is not there."""
    if not len(known):
        return np.full(len(keys), -1)
    places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[places] == keys, places, -1)
