from __future__ import annotations

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from metrics_golden import cases, close, untimed

from rationalize.errors import DataError
from rationalize.metrics.classification import (
    class_report,
    class_scores,
    confusion,
    task_accuracy,
    task_f1_weighted,
    unseen_labels,
)

LABELS = st.sampled_from("abc")


@pytest.mark.filterwarnings("ignore:Predicted labels that no example has")
@cases("weighted_f1")
def test_weighted_f1(case):
    gold, predicted = [*map(str, case["truth"])], [*map(str, case["pred"])]
    report = class_report(gold, predicted).values()
    weighted = [sum(getattr(c, part) * c.support for c in report) / len(gold) for part in ("p", "r", "f1")]
    assert weighted == close([case["expected"][name] for name in ("precision", "recall", "f1")])
    assert task_f1_weighted(gold, predicted) == close(case["expected"]["f1"])


@cases("classification")
def test_eraser_classification(case):
    gold = [case["gold"][row["id"]] for row in case["results"]]
    predicted = [row["label"] for row in case["results"]]
    expected = case["expected"]
    if expected.get("error") == "KeyError":
        with pytest.warns(UserWarning, match="'dec'"):
            assert task_f1_weighted(gold, predicted) == close(0.5)
        assert task_accuracy(gold, predicted) == 0.5
        assert unseen_labels(gold, predicted) == ["dec"]
        return
    if "error" in expected:  # of the AOPC part: labels are scored all the same
        assert task_accuracy(gold, predicted) == 1.0
        return
    assert task_accuracy(gold, predicted) == close(expected["accuracy"])
    assert task_f1_weighted(gold, predicted) == close(expected["prf"]["weighted avg"]["f1-score"])
    for label, scores in class_report(gold, predicted).items():
        row = expected["prf"][label]
        assert [scores.p, scores.r, scores.f1, scores.support] == close(
            [row[name] for name in ("precision", "recall", "f1-score", "support")]
        )


@untimed
@given(st.lists(st.tuples(LABELS, LABELS), min_size=1))
def test_weighted_f1_is_scikit_learns(pairs):
    from sklearn.metrics import f1_score

    gold, predicted = map(list, zip(*pairs))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = task_f1_weighted(gold, predicted)
    assert ours == close(f1_score(gold, predicted, average="weighted", zero_division=0))


def test_confusion_counts_every_pair():
    table = confusion(["a", "a", "b"], ["a", "b", "b"])
    assert table == {"a": {"a": 1, "b": 1}, "b": {"a": 0, "b": 1}}


def test_pairs_that_are_not_counted_did_not_occur():
    scores = class_scores({"a": {"a": 2}, "b": {"b": 1, "a": 1}})
    assert (scores["a"].p, scores["a"].r, scores["b"].p, scores["b"].r) == (close(2 / 3), 1.0, 1.0, 0.5)


def test_no_examples_have_no_score():
    assert task_f1_weighted([], []) is None
    assert task_accuracy([], []) is None
    assert confusion([], []) == {}


def test_labels_of_different_number_are_refused():
    with pytest.raises(DataError, match="2 gold labels but 1"):
        task_f1_weighted(["a", "b"], ["a"])
