"""The nearest of many vectors, exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Nearest = tuple[NDArray[np.float64], NDArray[np.int64]]

SPARE = 7  # candidates beyond those wanted
CANDIDATES = 8192  # measured at a time; it bounds memory
SLACK = 1e-5  # of the squared lengths: more than single precision can be wrong by


class VectorStore:
    """Vectors that can be searched by L2. Of equally near ones, the one stored earlier is nearer.

    For many queries FAISS takes a matrix product in single precision, and its rounding depends on where a vector is
    stored. Its answers are therefore candidates that are measured again, and more of them as long as what is left
    out might be as near.
    """

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = np.ascontiguousarray(vectors, dtype=np.float32)
        self._longest = float(_squares(self.vectors).max(initial=0.0))

    def nearest(self, queries: Vectors, k: int = 1) -> Nearest:
        """Squared distances and places of the `k` nearest vectors (all, if there are fewer), nearest first."""
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
        unsure = rough[:, -1] <= exact[:, -1] + SLACK * (_squares(queries) + self._longest)
        if candidates < len(self.vectors) and bool(unsure.any()):
            exact[unsure], places[unsure] = self._nearest(queries[unsure], k, 2 * candidates)
        return exact, places


def _squares(vectors: Vectors) -> NDArray[np.float32]:
    """Squared lengths."""
    found: NDArray[np.float32] = np.einsum("nd,nd->n", vectors, vectors)
    return found
