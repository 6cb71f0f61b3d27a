"""Data of a comparison are read, cut and hashed once, however many cells use them."""

from __future__ import annotations

from collections import Counter

import pytest

from rationalize.comparison import _source_cache, _sources
from rationalize.comparison._source_cache import forget_sources
from rationalize.comparison.cells import list_cells
from rationalize.comparison.plan import load_plan
from rationalize.data.planted import make_corpus
from rationalize.runs import training_data


@pytest.fixture
def hashed(monkeypatch):
    """How often each example is written down to be hashed."""
    seen: Counter[str] = Counter()
    write = training_data.write_seen
    for module in (training_data, _sources):
        monkeypatch.setattr(
            module, "write_seen", lambda example: (seen.update([example.id]), write(example))[1]
        )
    corpus = make_corpus(sizes={"train": 20, "dev": 5, "test": 5})
    monkeypatch.setattr("rationalize.comparison._source_cache.build_corpus", lambda config: corpus)
    forget_sources()
    yield seen
    forget_sources()


def test_cells_that_want_the_same_data_share_the_work(hashed):
    plan = load_plan(None, {"data": {"toy": "planted"}, "methods": ["un_rat", "fr", "sup_rat", "at_bmc"]})
    found = [
        (
            _sources.read_training_data(plan, cell).fingerprint(),
            _sources.hash_splits(_sources.read_scored_splits(plan, cell, ["NEG", "POS"])),
        )
        for cell in list_cells(plan)
    ]
    assert len({data for data, _ in found}) == 2  # without gold, and with all of it
    assert len({scored for _, scored in found}) == 1
    assert sorted(hashed.values()) == [1] * 5 + [2] * 25


def test_auto_looks_at_data_once_for_all_methods(hashed, monkeypatch):
    looked = []
    look_at = _source_cache.look_at
    monkeypatch.setattr(_source_cache, "look_at", lambda *given: (looked.append(1), look_at(*given))[1])
    list_cells(
        load_plan(
            None, {"data": {"toy": "planted"}, "methods": ["un_rat", "fr"], "preset": "auto", "seeds": [0]}
        )
    )
    assert len(looked) == 1
