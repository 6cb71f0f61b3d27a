"""What a model keeps of how sure it was on dev."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from helpers import tiny_corpus, tiny_model
from rationalize.runs._confidence_fit import fit_confidence
from rationalize.types import Example

LABELS = ["NEG", "POS"]


@pytest.fixture(scope="module")
def explanation():
    (explained,) = tiny_model("semi_rat").engine().explain(tiny_corpus(1))
    return explained.explanation


def make_evaluation(explanation, *groups):
    """An evaluation in which each group has texts of one confidence, some right and some wrong."""
    explained = [
        SimpleNamespace(
            explanation=replace(explanation, probabilities={"NEG": 1 - sure, "POS": sure}),
            encoded=SimpleNamespace(example=Example("id", "a text", label="POS" if index < right else "NEG")),
        )
        for sure, right, wrong in groups
        for index in range(right + wrong)
    ]
    return SimpleNamespace(explained=explained, confidence=None)


def test_a_model_that_claims_too_much_is_tempered(explanation):
    record, scores = fit_confidence(make_evaluation(explanation, (0.99, 70, 30)), LABELS)
    assert record.temperature > 3
    assert (record.n, record.ece) == (100, pytest.approx(0.29))
    assert record.ece_calibrated == scores.ece_calibrated < 0.02


def test_a_temperature_that_one_wrong_label_decides_is_not_kept(explanation):
    """Being wrong once at 0.999999 costs more likelihood than all the others' being right is worth."""
    few = make_evaluation(explanation, (0.93, 56, 4), (0.999999, 19, 1))
    record, scores = fit_confidence(few, LABELS)
    assert record.temperature == 1.0
    assert record.ece_calibrated == record.ece == scores.ece < 0.02


def test_few_examples_give_no_temperature(explanation):
    record, _ = fit_confidence(make_evaluation(explanation, (0.99, 7, 3)), LABELS)
    assert record is None
