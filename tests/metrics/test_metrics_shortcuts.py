from __future__ import annotations

from rationalize.metrics.instance import ScoredInstance
from rationalize.metrics.shortcut_words import ShortcutScores, distribution_gap, shortcut_scores


def instance(selected, shortcuts):
    mask = None if shortcuts is None else tuple(map(bool, shortcuts))
    return ScoredInstance(
        id="x", n_words=len(selected), selected=tuple(map(bool, selected)), label="a", shortcut_words=mask
    )


def test_shares_are_pooled_over_the_known():
    instances = [
        instance([1, 1, 0, 1], [1, 0, 1, 0]),
        instance([1, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0]),
        instance([1, 1, 1], None),
    ]
    assert shortcut_scores(instances) == ShortcutScores(2 / 4, 3 / 10, 2 / 3)


def test_nothing_to_divide_by():
    assert shortcut_scores([]) == ShortcutScores(None, None, None)
    assert shortcut_scores([instance([0, 0], [0, 0])]) == ShortcutScores(None, 0.0, None)


def test_gap_is_in_minus_out_of_distribution():
    inside = {"task_f1_weighted": 0.9, "auprc": None, "n_instances": 10, "only_here": 1.0, "share_from": "x"}
    outside = {"task_f1_weighted": 0.6, "auprc": 0.5, "n_instances": 5, "share_from": "y"}
    gap = distribution_gap(inside, outside)
    assert set(gap) == {"task_f1_weighted"}
    assert abs(gap["task_f1_weighted"] - 0.3) < 1e-12
