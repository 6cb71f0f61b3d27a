"""Which of some documents have which candidate."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from rationalize.shortcuts._gram_table import GramTable
from rationalize.shortcuts.candidates import Candidates, load_places
from rationalize.shortcuts.phrases import Ints, touch_gold
from rationalize.shortcuts.shard_arrays import WHOLE, ShardArrays
from rationalize.shortcuts.word_corpus import WordCorpus


class Incidence(NamedTuple):
    """Sparse matrices (documents, candidates): 1 where a candidate occurs outside the gold rationale, or at all."""

    outside: Any
    anywhere: Any


def find_incidence(corpus: WordCorpus, table: GramTable, candidates: Candidates, rows: Ints) -> Incidence:
    """Find the candidates in the documents of some indexes, which are in order."""
    lengths = sorted(set(candidates.lengths.tolist()))
    for length in lengths:
        numbers = np.full(table.size(length), -1)
        own = np.flatnonzero(candidates.lengths == length)
        numbers[candidates.ids[own]] = own
        corpus.arrays.save(WHOLE, f"numbers-{length}", numbers)
    corpus.arrays.save(WHOLE, "rows", rows)
    step = partial(_find_in_shard, corpus.arrays, corpus.documents.bounds, lengths, len(candidates))
    parts = list(corpus.crew.map(step, corpus.shards))
    return Incidence(*(_fill(part, (len(rows), len(candidates))) for part in zip(*parts, strict=True)))


def _find_in_shard(
    arrays: ShardArrays, bounds: Sequence[int], lengths: list[int], size: int, number: int
) -> tuple[Ints, Ints]:
    """Return pairs of row and candidate as numbers: those outside gold, and all."""
    rows = arrays.load(WHOLE, "rows")
    first, last = np.searchsorted(rows, bounds[number]), np.searchsorted(rows, bounds[number + 1])
    place = np.full(bounds[number + 1] - bounds[number], -1)
    place[rows[first:last] - bounds[number]] = np.arange(first, last)
    gold = arrays.load(number, "gold")
    outside, anywhere = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for length in lengths:
        positions, ids, documents = load_places(arrays, length, number)
        own = arrays.load(WHOLE, f"numbers-{length}")[ids]
        wanted = (own >= 0) & (place[documents] >= 0)
        pairs = place[documents[wanted]] * size + own[wanted]
        anywhere.append(pairs)
        outside.append(pairs[~touch_gold(gold, length)[positions[wanted]]])
    return np.unique(np.concatenate(outside)), np.unique(np.concatenate(anywhere))


def _fill(pairs: tuple[Ints, ...], shape: tuple[int, int]) -> Any:
    from scipy.sparse import csr_matrix

    rows, columns = np.divmod(np.concatenate([np.zeros(0, np.int64), *pairs]), max(shape[1], 1))
    return csr_matrix((np.ones(len(rows), dtype=np.int64), (rows, columns)), shape=shape)
