from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from metrics_golden import cases, check_scores, close, span_pairs, untimed

from rationalize.errors import DataError
from rationalize.metrics.instance import span_mask
from rationalize.metrics.tokens import token_f1_micro_piece, token_scores_eraser, token_scores_micro_piece


@cases("hard")
def test_eraser_token_scores(case):
    n_words = max(end for *_, end in case["gold"] + case["predicted"])
    masks = [(span_mask(gold, n_words), span_mask(found, n_words)) for gold, found in span_pairs(case)]
    check_scores(token_scores_eraser(masks), case["token"])


@cases("ssr_token_f1")
def test_ssr_token_scores(case):
    gold, selected, attention = (
        [[int(bit) for bit in row] for row in case[name]] for name in ("gold", "selected", "attention")
    )
    scores = token_scores_micro_piece(gold, selected, attention)
    expected = case["expected"]
    assert [scores.p, scores.r, scores.f1] == close(
        [expected[name] for name in ("precision", "recall", "f1")]
    )
    assert scores.support == expected["support"]
    assert scores.selected_fraction == close(expected["selected_fraction"])
    assert token_f1_micro_piece(gold, selected, attention) == scores.f1


def test_a_document_with_neither_gold_nor_selection_is_left_out_of_the_macro():
    one = ([True, True, False], [True, False, False])
    nothing = ([False] * 3, [False] * 3)
    assert token_scores_eraser([one, nothing]) == token_scores_eraser([one])
    assert token_scores_eraser([nothing]) is None


def test_selecting_everything_scores_2g_over_1_plus_g():
    gold = [[1, 0, 0, 0], [1, 1, 0, 0, 0, 0]]
    g = 3 / 10
    assert token_f1_micro_piece(gold, [[1] * 4, [1] * 6]) == close(2 * g / (1 + g))


def test_no_pieces_are_no_score():
    assert token_f1_micro_piece([], []) is None
    assert token_f1_micro_piece([[1, 0]], [[1, 0]], [[0, 0]]) is None


@pytest.mark.parametrize(
    "masks",
    [([[1, 0]], [[1]], None), ([[1], [0]], [[1]], None), ([[1]], [[1]], [[1, 1]]), ([[1]], [[1]], [])],
)
def test_masks_of_different_shape_are_refused(masks):
    with pytest.raises(DataError, match="same"):
        token_scores_micro_piece(*masks)


@untimed
@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=1))
def test_ssr_scores_are_scikit_learns_on_the_concatenated_vector(pieces):
    from sklearn.metrics import precision_recall_fscore_support

    gold, selected, attention = ([[int(row[side]) for row in pieces]] for side in range(3))
    real = [row for row in pieces if row[2]]
    scores = token_scores_micro_piece(gold, selected, attention)
    if not real:
        assert scores is None
        return
    p, r, f1, _ = precision_recall_fscore_support(
        [int(row[0]) for row in real], [int(row[1]) for row in real], labels=[1], zero_division=0
    )
    assert [scores.p, scores.r, scores.f1] == close([p[0], r[0], f1[0]])
