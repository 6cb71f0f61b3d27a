"""Deterministic k-means."""

from __future__ import annotations

import numpy as np

from rationalize.seeding import derive_seed


def kmeans(vectors: np.ndarray, k: int, seed: int) -> list[int]:
    """Return the cluster of each row (Euclidean, best of 10 starts), numbered in order of appearance."""
    from sklearn.cluster import KMeans

    start = derive_seed(seed, "kmeans") % 2**32
    found = KMeans(k, n_init=10, random_state=start).fit_predict(np.asarray(vectors, dtype=np.float64))
    numbers: dict[int, int] = {}
    return [numbers.setdefault(cluster, len(numbers)) for cluster in found.tolist()]
