from __future__ import annotations

import pytest

from rationalize.errors import DataError
from rationalize.metrics.instance import ScoredInstance, span_mask


def instance(**changes):
    return ScoredInstance(
        **{"id": "x", "n_words": 4, "selected": (True, False, True, True), "label": "a"} | changes
    )


def test_what_is_derived():
    one = instance(gold=((0, 2), (1, 4), (2, 2)), n_words_read=3)
    assert one.spans == ((0, 1), (2, 4))
    assert one.gold_mask == (True,) * 4
    assert one.gold_words_lost == 1
    assert instance(gold=((0, 2),)).gold_words_lost == 0
    assert instance(gold=((0, 3),), n_words_read=2).gold_words_lost == 1


def test_overlapping_spans_are_united():
    assert span_mask([(0, 2), (1, 3)], 4) == (True, True, True, False)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"selected": (True,)}, "selected: got 1 values, expected one for each of the document's 4"),
        ({"scores": (0.1,) * 3}, "scores: got 3 values"),
        ({"scores": (0.1, 0.1, 0.1, float("inf"))}, "scores: got NaN or infinity"),
        ({"shortcut_words": ()}, "shortcut_words: got 0 values"),
        ({"gold": ((3, 5),)}, r"\[3, 5\) is not inside the document of 4 words"),
        ({"gold": ((2, 1),)}, r"\[2, 1\)"),
        ({"n_words_read": 5}, "n_words_read: got 5, expected 0 to 4"),
        ({"piece_gold": (1, 0)}, "piece_selected: got None pieces"),
        ({"piece_selected": (1, 0)}, "piece_selected: got 2 pieces"),
        ({"piece_gold": (1, 0), "piece_selected": (1,)}, "piece_selected: got 1 pieces"),
        (
            {"piece_gold": (1,), "piece_selected": (1,), "piece_selectable": ()},
            "piece_selectable: got 0 pieces",
        ),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(changes, message):
    with pytest.raises(DataError, match=message) as error:
        instance(document="d", **changes)
    assert "example 'x', document 'd'" in str(error.value)
