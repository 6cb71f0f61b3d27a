from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from metrics_golden import GOLDEN, cases, close, untimed

from rationalize.errors import DataError
from rationalize.metrics.soft import ranking_areas, soft_scores


@cases("soft")
def test_eraser_soft_scores(case):
    scores = soft_scores(case["documents"], eraser_compat=True)
    expected = case["expected"]
    assert scores.auprc == close(expected["auprc"])
    assert scores.average_precision == close(expected["average_precision"])
    assert scores.roc_auc == close(expected["roc_auc_score"])


def test_gold_free_documents_are_skipped_and_counted():
    scores = soft_scores(GOLDEN["soft"]["single_class_all_negative"]["documents"])
    assert (scores.auprc, scores.n_documents, scores.n_gold_free) == (1.0, 1, 1)


def test_nothing_to_rank_is_no_score():
    for documents in ([], [([], [])], [([0.3, 0.1], [False, False])]):
        scores = soft_scores(documents)
        assert (scores.auprc, scores.average_precision, scores.roc_auc) == (None, None, None)


@pytest.mark.parametrize(
    ("scores", "message"), [([0.1], "1 word scores for a document of 2"), ([0.1, float("nan")], "finite")]
)
def test_unusable_scores_are_refused(scores, message):
    with pytest.raises(DataError, match=message):
        soft_scores([(scores, [True, False])])


@untimed
@given(st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.5, 0.9]), st.booleans()), min_size=1))
def test_areas_are_scikit_learns(words):
    from sklearn.metrics import auc, average_precision_score, precision_recall_curve, roc_auc_score

    scores, gold = map(list, zip(*words))
    if not any(gold):
        return
    areas = ranking_areas(scores, gold)
    precision, recall, _ = precision_recall_curve(gold, scores)
    assert areas.auprc == close(auc(recall, precision))
    assert areas.average_precision == close(average_precision_score(gold, scores))
    assert areas.roc_auc == (None if all(gold) else close(roc_auc_score(gold, scores)))
