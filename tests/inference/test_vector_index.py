from __future__ import annotations

import numpy as np
import pytest

from helpers import tiny_corpus, tiny_model
from rationalize.inference import vector_index
from rationalize.inference.retrieval import VectorStore
from rationalize.inference.vector_file import represent_in_folder
from rationalize.inference.vector_index import IndexedStore, needs_index
from rationalize.inference.vectors import represent


def make_clusters(count, width=16):
    random = np.random.default_rng(0)
    centers = random.standard_normal((40, width), dtype=np.float32)
    noise = 0.5 * random.standard_normal((count, width), dtype=np.float32)
    return (centers[random.integers(0, 40, count)] + noise).astype(np.float32)


def test_few_vectors_are_searched_exactly_and_many_through_an_index():
    assert not needs_index(3_000, 3_000)
    assert needs_index(3_000, 2_999)
    assert not needs_index(900, 1)


def test_vectors_on_disk_are_searched_as_those_in_memory(tmp_path):
    vectors = make_clusters(3_000)
    np.save(tmp_path / "vectors.npy", vectors)
    mapped = IndexedStore(np.load(tmp_path / "vectors.npy", mmap_mode="r"))
    held = IndexedStore(vectors)
    assert mapped.recall == held.recall
    assert (mapped.nearest(vectors[:50])[1] == held.nearest(vectors[:50])[1]).all()


def test_the_recall_is_that_of_the_sample():
    vectors = make_clusters(3_000)
    store = IndexedStore(vectors)
    exact, places = VectorStore(vectors).nearest(vectors, 2)
    found, near = store.nearest(vectors, 2)
    assert 0.9 < store.recall <= 1
    assert abs((near[:, 1] == places[:, 1]).mean() - store.recall) < 0.1
    same = near[:, 1] == places[:, 1]
    assert np.allclose(found[same], exact[same])
    assert (near == IndexedStore(vectors).nearest(vectors, 2)[1]).all()


@pytest.mark.parametrize("probed", [1, 32])
def test_the_recall_is_what_looking_at_every_vector_says(monkeypatch, probed):
    monkeypatch.setattr(vector_index, "PROBED", probed)
    monkeypatch.setattr(vector_index, "SAMPLED", 3_000)
    noise = np.random.default_rng(0).standard_normal((3_000, 64), dtype=np.float32)
    store = IndexedStore(noise)
    found, exact = store.nearest(noise, 2)[1][:, 1], VectorStore(noise).nearest(noise, 2)[1][:, 1]
    assert store.recall == (found == exact).mean()
    assert (store.recall < 0.5) == (probed == 1)


def test_vectors_in_a_folder_are_those_in_memory(tmp_path):
    engine, corpus = tiny_model("un_rat").engine(), tiny_corpus(6)
    held, stored = represent(engine, corpus), represent_in_folder(engine, corpus, tmp_path)
    assert len(stored) == 6
    for one, other in zip(held, stored, strict=True):
        assert np.array_equal(one.whole, other.whole)
        assert np.array_equal(one.words, other.words)
        assert np.array_equal(one.read, other.read)
