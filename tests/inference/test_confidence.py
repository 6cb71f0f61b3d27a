"""Confidence: tempered probabilities, and labels that are withheld."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import tiny_corpus, tiny_model
from rationalize.errors import ConfigError
from rationalize.inference.confidence import ABSTAIN, ConfidenceRule, fit_temperature, make_rule, temper


def make_overconfident(temperature, rows=4000, seed=0):
    """Draw labels from known chances; the model's logits are these chances' logits times a factor."""
    generator = np.random.default_rng(seed)
    true_logits = generator.normal(size=(rows, 3))
    chances = temper(np.exp(true_logits) / np.exp(true_logits).sum(-1, keepdims=True), 1.0)
    gold = np.array([generator.choice(3, p=row) for row in chances])
    claimed = np.exp(true_logits * temperature)
    return claimed / claimed.sum(-1, keepdims=True), gold


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0, 4.0])
def test_the_temperature_of_an_over_or_underconfident_model_is_found(temperature):
    assert fit_temperature(*make_overconfident(temperature)) == pytest.approx(temperature, rel=0.1)


def test_scaling_is_that_of_the_logits():
    logits = np.array([[1.0, -2.0, 0.5]])
    soft = np.exp(logits) / np.exp(logits).sum()
    cooler = np.exp(logits / 3) / np.exp(logits / 3).sum()
    assert temper(soft, 3.0) == pytest.approx(cooler)


def test_a_model_that_is_never_wrong_on_few_examples_is_not_infinitely_sure():
    probabilities, gold = np.tile([0.9, 0.1], (20, 1)), np.zeros(20, dtype=int)
    found = temper(probabilities, fit_temperature(probabilities, gold))[0, 0]
    assert 0.9 < found < 0.97


def test_below_its_floor_a_label_is_withheld():
    rule = make_rule(1.0, {"POS": 0.8}, ["NEG", "POS"])
    assert rule.judge({"NEG": 0.3, "POS": 0.7}) == (ABSTAIN, pytest.approx(0.7))
    assert rule.judge({"NEG": 0.7, "POS": 0.3})[0] == "NEG"
    assert make_rule(1.0, 0.8, ["NEG", "POS"]).judge({"NEG": 0.7, "POS": 0.3})[0] == ABSTAIN
    assert ConfidenceRule(2.0).judge({"NEG": 0.9, "POS": 0.1}) == ("NEG", pytest.approx(0.75))


@pytest.mark.parametrize(
    ("wanted", "labels", "words"),
    [
        ({"MAYBE": 0.5}, ["NEG", "POS"], "'MAYBE', expected one of NEG, POS"),
        (1.5, ["NEG", "POS"], "expected 0 to 1"),
        (0.5, ["abstain", "POS"], "called 'abstain' itself"),
    ],
)
def test_floors_that_cannot_be_are_refused(wanted, labels, words):
    with pytest.raises(ConfigError, match=words) as seen:
        make_rule(1.0, wanted, labels)
    assert seen.value.fields == ("min_confidence",)


def test_an_engine_withholds_but_keeps_the_probabilities():
    model = tiny_model("semi_rat")
    (plain,) = model.engine().explain(tiny_corpus(1))
    (held,) = model.engine(min_confidence=1.0).explain(tiny_corpus(1))
    assert held.explanation.label == ABSTAIN
    assert held.explanation.probabilities == plain.explanation.probabilities
    assert plain.explanation.confidence == max(plain.explanation.probabilities.values())
    assert f"abstain ({held.explanation.probability:.2f})" in str(held.explanation)
    row = held.explanation.to_dict()
    assert type(held.explanation).from_dict(row) == held.explanation
