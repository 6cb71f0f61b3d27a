"""Labels that a model contradicts."""

from __future__ import annotations

from helpers import tiny_corpus, tiny_model
from rationalize.evaluation.label_suspects import find_suspects
from rationalize.types import Example, Explanation


def explain(label, sure, full=None, alone=None):
    other = "NEG" if label == "POS" else "POS"

    def spread(name):
        return None if name is None else {name: 0.9, "NEG" if name == "POS" else "POS": 0.1}

    return Explanation(
        "so good", label, {label: sure, other: 1 - sure}, (), (), (), (), True, "un_rat",
        from_full_text=spread(full), from_rationale=spread(alone),
    )  # fmt: skip


def test_the_surest_contradictions_come_first_and_doubtful_readings_last():
    pairs = [
        (Example("fine", "so good", "POS"), explain("POS", 0.9)),
        (Example("unknown", "so good"), explain("POS", 0.9)),
        (Example("doubtful", "so good", "NEG"), explain("POS", 0.99, "POS", "NEG")),
        (Example("weak", "so good", "NEG"), explain("POS", 0.6, "POS", "POS")),
        (Example("strong", "so good", "NEG"), explain("POS", 0.9, "POS", "POS")),
    ]
    found = find_suspects(pairs)
    assert [each.id for each in found] == ["strong", "weak", "doubtful"]
    assert [each.review for each in found] == [False, False, True]
    assert found[0].to_dict()["predicted"] == "POS"


def test_a_real_models_explanations_fit():
    examples = tiny_corpus(6)
    explained = [item.explanation for item in tiny_model("semi_rat").engine().explain(examples)]
    assert all(each.label != each.predicted for each in find_suspects(zip(examples, explained, strict=True)))
