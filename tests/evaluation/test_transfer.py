from __future__ import annotations

import pytest

from rationalize.errors import ConfigError, DataError
from rationalize.evaluation.transfer import invert_label_map, map_labels
from rationalize.types import Example, Span

MODEL = ("NEG", "POS")


def examples(*labels):
    return [Example(str(i), "a film", label, rationale=(Span(0, 1),)) for i, label in enumerate(labels)]


def labels(found):
    return [example.label for example in found]


def test_labels_are_mapped_and_nothing_else():
    given = examples("positive", "negative", None, "POS")
    found = map_labels(given, MODEL, {"positive": "POS", "negative": "NEG"}, "data")
    assert labels(found) == ["POS", "NEG", None, "POS"]
    assert [(each.id, each.text, each.rationale) for each in found] == [
        (each.id, each.text, each.rationale) for each in given
    ]


def test_labels_that_agree_need_no_map():
    given = examples("POS", "NEG")
    assert map_labels(given, MODEL, {}, "data") == tuple(given)


def test_an_explicit_map_wins_over_equal_names():
    assert labels(map_labels(examples("POS", "NEG"), MODEL, {"POS": "NEG", "NEG": "POS"}, "data")) == [
        "NEG",
        "POS",
    ]


def test_unknown_labels_are_named_with_both_sides_and_the_way_out():
    with pytest.raises(DataError) as error:
        map_labels(examples("positive", "0", "NEG"), MODEL, {}, "imdb.csv")
    message = str(error.value)
    assert message.startswith("imdb.csv: the model does not know the label(s) 0, positive.")
    assert "The data have 0, NEG, positive; the model has NEG, POS." in message
    assert "label_map={'0': 'MODEL_LABEL', 'positive': 'POS'}" in message
    assert error.value.fields == ("label_map",)


@pytest.mark.parametrize("wrong", [{"good": "POS"}, {"positive": "GOOD"}])
def test_a_map_with_a_name_that_nobody_has_is_refused(wrong):
    with pytest.raises(DataError, match=r"unknown label\(s\) (good|GOOD)\. The data have .* the model has"):
        map_labels(examples("positive", "NEG"), MODEL, {"positive": "POS", **wrong}, "data")


def test_the_way_back_is_one_to_one():
    assert invert_label_map(examples("positive", "NEG"), MODEL, {"positive": "POS"}, "d") == {
        "POS": "positive",
        "NEG": "NEG",
    }
    for given, label_map in [
        (examples("good", "great"), {"good": "POS", "great": "POS"}),
        (examples("POS"), {"POS": "NEG"}),  # the model's own POS would have the same name
    ]:
        with pytest.raises(ConfigError, match="one to one"):
            invert_label_map(given, MODEL, label_map, "d")
