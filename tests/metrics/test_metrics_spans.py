from __future__ import annotations

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st
from metrics_golden import GOLDEN, cases, check_scores, span_pairs, untimed

from rationalize.metrics.spans import iou_matrix, iou_scores_1to1, iou_scores_eraser, span_scores_exact

SPANS = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 4)), max_size=4).map(
    lambda pairs: [(start, start + length) for start, length in pairs]
)


@cases("hard")
def test_exact_span_scores(case):
    check_scores(span_scores_exact(span_pairs(case)), case["span"])


@cases("hard")
def test_eraser_iou_scores(case):
    for threshold, expected in case["iou"].items():
        check_scores(iou_scores_eraser(span_pairs(case), float(threshold)), expected)


def test_one_to_one_matching_caps_what_eraser_counts_twice():
    pairs = span_pairs(GOLDEN["hard"]["iou_recall_above_one"])
    assert iou_scores_eraser(pairs).macro.r == 2.0
    macro = iou_scores_1to1(pairs).macro
    assert (macro.p, macro.r, macro.f1) == (0.5, 1.0, 2 / 3)


def test_matching_is_maximum_not_greedy():
    # The first prediction fits both golds, the second only the first: a greedy choice would match one pair.
    gold, predicted = [(0, 4), (1, 5)], [(0, 5), (0, 3)]
    scores = iou_scores_1to1([(gold, predicted)], 0.6)
    assert scores.micro.r == 1.0


def test_nothing_at_all_is_no_score():
    for score in (span_scores_exact, iou_scores_eraser, iou_scores_1to1):
        assert score([]) is None
        assert score([([], [])]) is None


@untimed
@given(SPANS, SPANS, st.sampled_from([0.1, 0.5, 0.9]))
def test_matching_against_every_assignment(gold, predicted, threshold):
    gold, predicted = sorted(set(gold)), sorted(set(predicted))
    scores = iou_scores_1to1([(gold, predicted)], threshold)
    if not gold or not predicted:
        assert scores is None or scores.micro.f1 == 0
        return
    allowed = iou_matrix(predicted, gold) >= threshold
    allowed = allowed if len(predicted) <= len(gold) else allowed.T
    best = max(
        sum(allowed[row, column] for row, column in enumerate(columns))
        for columns in permutations(range(allowed.shape[1]), allowed.shape[0])
    )
    assert round(scores.micro.r * len(gold)) == best
    assert scores.macro.f1 <= 1
    assert scores.macro.f1 <= iou_scores_eraser([(gold, predicted)], threshold).macro.f1 + 1e-12


@untimed
@given(SPANS, SPANS)
def test_iou_is_that_of_the_word_sets(gold, predicted):
    matrix = iou_matrix(predicted, gold)
    for row, found in enumerate(predicted):
        for column, truth in enumerate(gold):
            union = {*range(*found), *range(*truth)}
            shared = {*range(*found)} & {*range(*truth)}
            assert matrix[row, column] == (len(shared) / len(union) if union else 0)


def test_nothing_matches_where_one_side_has_no_span():
    scores = iou_scores_1to1([([(0, 2)], [(0, 2)]), ([(0, 2)], []), ([], [(0, 2)])])
    assert (scores.micro.p, scores.micro.r) == (0.5, 0.5)
