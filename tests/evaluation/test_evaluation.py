"""The typed result: attributes, and its way to JSON and back."""

from __future__ import annotations

import json

import pytest

from helpers import tiny_corpus, tiny_model
from rationalize.evaluation.evaluation import Evaluation
from rationalize.evaluation.recipe import evaluate_model
from rationalize.metrics.named_metrics import NamedMetrics


@pytest.fixture(scope="module")
def found():
    engine = tiny_model("semi_rat").engine()
    return evaluate_model(engine, tiny_corpus(6), split="test", faithfulness="drop", faithfulness_limit=2)


def test_every_number_with_a_plain_name_is_an_attribute(found):
    plain = {name for name in found.metrics if not {"@", "/"} & set(name)} - {"n_examples"}
    assert {name: getattr(found, name) for name in plain} == {name: found.metrics[name] for name in plain}
    assert found.iou_f1_1to1 == found.metrics["iou_f1_1to1@0.5"]
    declared = {name for name in vars(NamedMetrics) if not name.startswith("_")}
    assert declared == plain | {"iou_f1_eraser", "iou_f1_1to1"}


def test_there_is_no_number_of_another_name(found):
    with pytest.raises(AttributeError, match="token_f1"):
        _ = found.token_f1
    with pytest.raises(AttributeError):
        _ = found.trivial["random"].token_f1


def test_it_goes_to_json_and_back(found):
    row = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert list(row) == [
        "schema", "split", "method", "faithful", "labels", "n_examples", "metrics", "trivial", "health",
        "confusion", "intervals", "confidence", "faithfulness",
    ]  # fmt: skip
    assert list(row["trivial"]["random"])[-1] == "tokens_to_flip"
    assert row["faithfulness"]["n_examples"] == 2
    again = Evaluation.from_dict(row | {"encoder": "tiny"})
    assert again == found
    assert again.explained == ()
    assert again.to_dict() == row


def test_explanations_are_carried_along_and_not_shown(found):
    assert [item.explanation.id for item in found.explained] == [each.id for each in tiny_corpus(6)]
    assert "Explained" not in repr(found)
    assert "explained" not in found.to_dict()


def test_given_labels_are_a_fact_of_the_result():
    found = evaluate_model(tiny_model("car").engine(oracle_label=True), tiny_corpus(4))
    assert (found.method, found.oracle_label, found.to_dict()["oracle_label"]) == ("car", True, True)
    assert Evaluation.from_dict(found.to_dict()).oracle_label
