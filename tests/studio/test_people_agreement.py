"""Agreement, against scikit-learn and by hand."""

from __future__ import annotations

from collections import Counter

import pytest
from sklearn.metrics import cohen_kappa_score
from studio_helpers import TEXTS

from rationalize.data.annotator_agreement import cohen_kappa
from rationalize.data.read_options import ReadOptions
from rationalize.data.source import read_data
from rationalize.studio._decisions import Annotation
from rationalize.studio._people_agreement import compare_people
from rationalize.studio.pool import make_pool
from rationalize.types import Span


def test_kappa_is_that_of_scikit_learn():
    pairs = [(1, 1), (0, 0), (1, 0), (0, 0), (1, 1), (0, 1), (0, 0)]
    assert cohen_kappa(Counter(pairs)) == pytest.approx(cohen_kappa_score(*zip(*pairs)))
    assert cohen_kappa({}) is None
    assert cohen_kappa({(1, 1): 2}) is None


def test_people_are_compared_over_what_both_have_done():
    pool = make_pool(read_data({"train": list(TEXTS)}, ReadOptions()))
    given = [
        Annotation(1, "anna", "done", (Span(0, 7),), "POS"),
        Annotation(1, "bert", "done", (Span(2, 15),), "POS"),
        Annotation(2, "anna", "done", (Span(0, 6),), "NEG"),
        Annotation(2, "bert", "done", (Span(0, 6),), "NEG"),
        Annotation(3, "anna", "done", (), "POS"),
        Annotation(3, "bert", "skipped", (), "POS"),
    ]
    found = compare_people(pool, given)
    (pair,) = found.pairs
    assert (pair.first, pair.second, pair.texts, found.texts) == ("anna", "bert", 2, 2)
    # Words: anna 1 1 0 0 | 1 0 0 0, bert 0 1 1 0 | 1 0 0 0.
    anna, bert = (1, 1, 0, 0, 1, 0, 0, 0), (0, 1, 1, 0, 1, 0, 0, 0)
    assert pair.word_kappa == pytest.approx(cohen_kappa_score(anna, bert))
    assert pair.word_f1 == pytest.approx(2 / 3)
    assert pair.label_kappa == 1
    # Krippendorff: 2 of 8 pairs differ; 6 of 16 values are "marked".
    assert found.word_alpha == pytest.approx(1 - (2 * 2 / 16) / (2 * 6 * 10 / (16 * 15)))
    assert found.label_alpha == 1
