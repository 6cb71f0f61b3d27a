"""An explanation as plain values: complete, of its own, and back again."""

from __future__ import annotations

import json

from rationalize.types import Explanation, Span

FOUND = Explanation(
    text="a joy to watch",
    label="POS",
    probabilities={"NEG": 0.25, "POS": 0.75},
    spans=(Span(2, 5),),
    words=(Span(0, 1), Span(2, 5), Span(6, 8), Span(9, 14)),
    scores=(0.0, 1.0, 0.25, 0.0),
    selected=(False, True, False, False),
    faithful=True,
    method="un_rat",
    from_full_text={"NEG": 0.5, "POS": 0.5},
    cut_off=Span(9, 14),
    id="0",
)


def test_an_explanation_is_plain_and_comes_back():
    row = FOUND.to_dict()
    assert row["rationale"] == ["joy"]
    assert (row["spans"], row["words"][3], row["cut_off"]) == ([[2, 5]], [9, 14], [9, 14])
    assert Explanation.from_dict(json.loads(json.dumps(row))) == FOUND


def test_changing_the_plain_values_leaves_the_explanation():
    FOUND.to_dict()["probabilities"]["POS"] = 0.0
    assert FOUND.probabilities["POS"] == 0.75
