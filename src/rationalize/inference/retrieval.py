"""Find the nearest of many vectors, exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Nearest = tuple[NDArray[np.float64], NDArray[np.int64]]

SPARE = 7  # extra candidates
CANDIDATES = 8192  # measured at a time; it bounds memory
SLACK = 1e-5  # of the squared lengths: more than the error of single precision


class VectorStore:
    """Vectors to search by L2 distance. Of equally near ones, the one stored earlier wins.

    For many queries FAISS uses a matrix product in single precision, whose rounding depends on where a vector is
    stored. So its answers are only candidates: their distances are computed again, with more candidates as long as
    an omitted vector might be as near.
    """

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = np.ascontiguousarray(vectors, dtype=np.float32)
        self._longest = float(_square_lengths(self.vectors).max(initial=0.0))

    def nearest(self, queries: Vectors, k: int = 1) -> Nearest:
        """Return squared distances and indexes of the `k` nearest vectors (or all), nearest first."""
        k = min(k, len(self.vectors))
        return self._nearest(np.ascontiguousarray(queries, dtype=np.float32), k, k + SPARE)

    def _nearest(self, queries: Vectors, k: int, candidates: int) -> Nearest:
        candidates = min(candidates, len(self.vectors))
        rows = max(1, CANDIDATES // candidates)
        parts = [self._measure(queries[at : at + rows], k, candidates) for at in range(0, len(queries), rows)]
        distances = np.concatenate([np.zeros((0, k)), *(each for each, _ in parts)])
        return distances, np.concatenate([np.zeros((0, k), dtype=np.int64), *(each for _, each in parts)])

    def _measure(self, queries: Vectors, k: int, candidates: int) -> Nearest:
        import faiss

        rough, places = faiss.knn(
            queries, self.vectors, candidates
        )  # an index would be a copy of the vectors
        apart = self.vectors[places].astype(np.float64) - queries[:, None]
        exact = np.einsum("nkd,nkd->nk", apart, apart)
        order = np.lexsort((places, exact))[:, :k]
        exact, places = np.take_along_axis(exact, order, -1), np.take_along_axis(places, order, -1)
        unsure = rough[:, -1] <= exact[:, -1] + SLACK * (_square_lengths(queries) + self._longest)
        if candidates < len(self.vectors) and bool(unsure.any()):
            exact[unsure], places[unsure] = self._nearest(queries[unsure], k, 2 * candidates)
        return exact, places


def _square_lengths(vectors: Vectors) -> NDArray[np.float32]:
    """Return the squared length of each vector."""
    found: NDArray[np.float32] = np.einsum("nd,nd->n", vectors, vectors)
    return found
