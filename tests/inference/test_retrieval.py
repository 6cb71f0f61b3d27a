from __future__ import annotations

import numpy as np
import pytest

from rationalize.inference.retrieval import VectorStore


def brute_force(vectors: np.ndarray, queries: np.ndarray, k: int) -> np.ndarray:
    """Places by distance, then by place, in double precision."""
    rows = [((vectors.astype(float) - query) ** 2).sum(-1) for query in queries]
    return np.array([np.lexsort((np.arange(len(vectors)), row))[:k] for row in rows])


def assert_agrees_with_brute_force(vectors: np.ndarray, queries: np.ndarray, k: int) -> None:
    distances, places = VectorStore(vectors).nearest(queries, k)
    assert (places == brute_force(vectors, queries, k)).all()
    apart = ((vectors[places].astype(float) - queries[:, None]) ** 2).sum(-1)
    assert distances == pytest.approx(apart)


@pytest.mark.parametrize(("k", "times"), [(1, 2), (2, 40)])
def test_it_agrees_with_brute_force_to_the_last_tie(k, times):
    # So many queries and numbers that FAISS rounds differently from place to place.
    random = np.random.default_rng(0)
    few = random.standard_normal((703 // times, 384), dtype=np.float32)
    noise = 0.3 * random.standard_normal((1000, 384), dtype=np.float32)
    assert_agrees_with_brute_force(
        np.tile(few, (times, 1)), few[random.integers(0, len(few), 1000)] + noise, k
    )


def test_far_from_the_origin_rounding_does_not_decide():
    random = np.random.default_rng(0)
    vectors = 1000 + random.standard_normal((200, 256), dtype=np.float32)
    assert_agrees_with_brute_force(vectors, np.tile(vectors, (4, 1)) + 0.01, 2)


def test_fewer_vectors_than_wanted_and_no_queries():
    store = VectorStore(np.array([[0, 0], [1, 0]], dtype=np.float32))
    distances, places = store.nearest(np.array([[2, 0]], dtype=np.float32), 5)
    assert (distances.tolist(), places.tolist()) == ([[1, 4]], [[1, 0]])
    assert store.nearest(np.zeros((0, 2), dtype=np.float32))[1].shape == (0, 1)
