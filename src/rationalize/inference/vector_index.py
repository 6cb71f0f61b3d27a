"""Find near vectors among so many that looking at each would take too long: an index proposes, distances decide.

The index is FAISS's IVF with a byte for each number of a vector, a quarter of the vectors' own memory. Its proposals
are compared by exact distances, computed from the vectors themselves, which may lie on disk. How often the nearest
vector is among the proposals is measured on a sample, by looking at every vector.

A byte for eight numbers (IVF-PQ) needs an eighth of that memory, but where many vectors are about equally near it finds
fewer of the nearest even with many more proposals, whose exact distances then cost most of the time (docs/scale.md).
"""

from __future__ import annotations

import math
import mmap
from collections.abc import Iterator
from typing import Any

import numpy as np

from rationalize.inference.retrieval import Nearest, Vectors

PROBED = 32
"""Cells that a query looks into."""
PROPOSED = 16
"""Vectors whose exact distance is computed."""
LEARNED_FROM = 64
"""Vectors for each cell that the index learns its cells from."""
FEWEST = 1_000
"""Vectors that are always searched exactly: an index needs some to learn from."""
SAMPLED = 200
"""Queries that the recall is measured on."""
BLOCK = 65_536
"""Vectors that are read at once."""
SEED = 1234


class IndexedStore:
    """Vectors to search by L2 distance, approximately. Of equally near ones, the one stored earlier wins.

    Attributes:
        recall: Share of a sample of the stored vectors whose nearest other vector is found.
    """

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors
        self._index = _build(vectors)
        self.recall = self._measure_recall()

    def nearest(self, queries: Vectors, k: int = 1) -> Nearest:
        """Return squared distances and indexes of the `k` nearest vectors that the index proposes, nearest first."""
        parts = [self._find(np.ascontiguousarray(part), k) for part in _cut(queries, BLOCK // PROPOSED)]
        distances, places = (np.concatenate(each) for each in zip(*parts, strict=True))
        return distances, places

    def _find(self, queries: Vectors, k: int) -> Nearest:
        _, places = self._index.search(queries, min(max(PROPOSED, k), len(self.vectors)))
        # Fewer than asked for are -1 at the end; the first stands in for them, infinitely far away.
        there = np.where(places < 0, places[:, :1], places)
        apart = self.vectors[there].astype(np.float64) - queries[:, None]
        exact = np.where(places < 0, np.inf, np.einsum("nkd,nkd->nk", apart, apart))
        order = np.lexsort((there, exact))[:, :k]
        return np.take_along_axis(exact, order, -1), np.take_along_axis(there, order, -1)

    def _measure_recall(self) -> float:
        """Compare with looking at every vector; another one that is as near counts as found."""
        chosen = np.unique(np.linspace(0, len(self.vectors) - 1, SAMPLED).astype(np.int64))
        queries = np.ascontiguousarray(self.vectors[chosen], dtype=np.float32)
        found, _ = self.nearest(queries, 2)
        best = np.full((len(queries), 2), np.inf)
        for block in _cut(self.vectors, BLOCK):
            stored = np.asarray(block, dtype=np.float64)
            rough = (stored**2).sum(1) - 2 * queries.astype(np.float64) @ stored.T
            best = np.sort(np.concatenate([best, np.partition(rough, 1, axis=1)[:, :2]], axis=1))[:, :2]
        exact = best[:, 1] + (queries.astype(np.float64) ** 2).sum(1)
        return float((found[:, 1] <= exact + 1e-6 * (1 + np.abs(exact))).mean())


def needs_index(count: int, exact_vectors: int) -> bool:
    """Return whether so many vectors are searched through an index, given how many are searched exactly."""
    return count > max(exact_vectors, FEWEST)


def _build(vectors: Vectors) -> Any:
    """Learn cells from a sample of the vectors, and put all vectors into them."""
    import faiss

    count, width = vectors.shape
    cells = round(math.sqrt(count))
    index = faiss.IndexIVFScalarQuantizer(
        faiss.IndexFlatL2(width), width, cells, faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_L2
    )
    index.cp.seed = SEED
    index.cp.min_points_per_centroid = 1  # fewer than it likes make a worse index; the recall shows that
    learned = np.sort(
        np.random.default_rng(SEED).choice(count, min(count, cells * LEARNED_FROM), replace=False)
    )
    index.train(np.ascontiguousarray(vectors[learned], dtype=np.float32))
    for block in _cut(vectors, BLOCK):
        index.add(np.ascontiguousarray(block, dtype=np.float32))
    index.nprobe = min(cells, PROBED)
    return index


def _cut(vectors: Vectors, rows: int) -> Iterator[Vectors]:
    """Yield the vectors in blocks; what was read from a mapped file does not stay in memory."""
    mapping = vectors.base if isinstance(vectors, np.memmap) else None
    for at in range(0, len(vectors), rows):
        yield vectors[at : at + rows]
        if isinstance(mapping, mmap.mmap) and hasattr(mapping, "madvise"):
            mapping.madvise(mmap.MADV_DONTNEED)
