"""How far scores may be off, by closed forms."""

from __future__ import annotations

import math

import pytest

from rationalize.metrics.instance import ScoredInstance
from rationalize.metrics.intervals import count_independent, mean_interval, score_intervals, wilson
from rationalize.metrics.score_table import score
from rationalize.metrics.significance import Interval


@pytest.mark.parametrize(
    ("share", "n", "low", "high"),
    [(0.89, 100, 0.8137, 0.9375), (0.5, 100, 0.4038, 0.5962), (0.0, 10, 0.0, 0.2775), (1.0, 10, 0.7225, 1.0)],
)
def test_wilson_as_in_textbooks(share, n, low, high):
    found = wilson(share, n)
    assert (found.low, found.high) == (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4))


def test_the_margin_is_half_the_width():
    assert Interval(0.2, 0.5).margin == pytest.approx(0.15)


def test_values_of_different_texts_are_all_independent():
    assert count_independent([1, 0, 1, 1], "abcd") == pytest.approx(4)


def test_values_that_agree_within_a_text_count_once():
    assert count_independent([1, 1, 0, 0, 1, 1, 0, 0], "aabbccdd") == pytest.approx(4)
    assert count_independent([1] * 6, "aabbcc") == 3


def test_values_that_disagree_within_a_text_count_no_more_than_they_are():
    assert count_independent([1, 0, 1, 0], "aabb") == 2
    assert count_independent([1, 0, 1, 1], "aabc") == 4


def test_the_interval_of_a_mean():
    values = [0.0, 1.0] * 50
    reach = 1.959964 * 0.5 / math.sqrt(100)
    assert mean_interval(values, range(100)) == Interval(
        pytest.approx(0.5 - reach), pytest.approx(0.5 + reach)
    )
    # Pairs of equal values are as good as half of them.
    twice = mean_interval([each for each in values for _ in range(2)], [i // 2 for i in range(200)])
    assert twice.margin == pytest.approx(reach)
    # Values that cancel out within a text are taken as if they were of different ones.
    assert mean_interval([0.4, 0.6] * 4, "aabbccdd").margin == pytest.approx(1.959964 * math.sqrt(0.08) / 8)
    assert mean_interval([1.0, 1.0, 0.4], "abc").high == 1.0


def instance(index, right, **more):
    gold = "a" if right else "b"
    return ScoredInstance(
        id=str(index), n_words=2, selected=(True, False), label="a", gold_label=gold, **more
    )


def test_scores_have_intervals_by_their_names():
    rows = [instance(i, i % 10 > 0, gold=((0, 1),) if i < 50 else None, label_bag="a") for i in range(100)]
    found = score_intervals(rows, score(rows))
    assert found.keys() == {
        *(f"task_{name}{part}" for name in ("accuracy", "f1_weighted") for part in ("", "_bag")),
        "token_f1_eraser",
    }
    assert found["task_accuracy"] == wilson(0.9, 100)
    assert found["task_f1_weighted"].low == pytest.approx(wilson(0.9 * 1.8 / 1.9, 100).low)
    assert found["token_f1_eraser"] == Interval(1.0, 1.0)


def test_examples_of_one_text_say_less():
    rows = [instance(i, i % 20 >= 10) for i in range(100)]
    alone = score_intervals(rows, score(rows))
    together = score_intervals(rows, score(rows), {str(i): str(i // 10) for i in range(100)})
    assert alone["task_accuracy"] == wilson(0.5, 100)
    assert together["task_accuracy"] == wilson(0.5, 10)
