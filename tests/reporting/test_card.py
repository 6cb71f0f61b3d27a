from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
import yaml

from rationalize.reporting.card import CardInfo, card_for, format_card

ABOUT = SimpleNamespace(
    name="semi_rat",
    title="Semi-RAT",
    headline="How.",
    reference="Someone 2024",
    supervision="part",
    faithful=True,
)


def info(**changes):
    values = {
        "method": "semi_rat",
        "method_title": "Semi-RAT",
        "headline": "How.",
        "reference": "Someone 2024",
        "supervision": "part",
        "faithful": True,
        "labels": ("NEG", "POS"),
        "encoder": "minilm",
        "max_tokens": 512,
    }
    return CardInfo(**(values | changes))


def test_front_matter_is_what_the_hub_reads(results):
    _, front, body = format_card(info(results=results)).split("---\n", 2)
    fields = yaml.safe_load(front)
    assert fields["library_name"] == "rationalize"
    assert fields["pipeline_tag"] == "text-classification"
    assert fields["metrics"] == ["f1"]
    assert "semi_rat" in fields["tags"]
    assert "license" not in fields
    assert body.lstrip().startswith("# Semi-RAT")


def test_card_shows_metrics_trivial_selectors_and_warnings(results):
    card = format_card(info(results=results))
    assert r"| semi\_rat | 87.5 |" in card
    assert "| *all words* |" in card
    assert "> - The selector selects almost nothing." in card


@pytest.mark.parametrize(
    ("changes", "present", "absent"),
    [
        ({}, "depends on the selected words alone: what", "is not decided on"),
        ({"faithful": False}, "**The label is not decided on the selected words alone**", "cannot change it"),
        ({"reads_query": True}, "queries=[", "| Query | not read |"),
        ({"license": "mit"}, "license: mit", "the terms of both apply"),
        ({}, "Not evaluated.", "metrics:"),
    ],
)
def test_card_says_what_is_so(changes, present, absent):
    card = format_card(info(**changes))
    assert present in card
    assert absent not in card


def test_text_of_users_is_escaped():
    card = format_card(info(labels=("a|b", "<script>"), training_data=("# not a title", "[x](http://y)")))
    assert r"| Labels | a\|b, \<script\> |" in card
    assert "\n\\# not a title\n" in card
    assert r"\[x\](http://y)" in card


@pytest.mark.parametrize(
    ("measured", "given", "faithful"), [(None, None, "yes"), (False, None, "no"), (True, False, "no")]
)
def test_card_for_a_model_takes_the_surest_word_on_faithfulness(
    monkeypatch, results, measured, given, faithful
):
    monkeypatch.setattr(
        "rationalize.methods.registry.method_class", lambda name: SimpleNamespace(about=ABOUT)
    )
    model = SimpleNamespace(
        method="semi_rat",
        labels=["NEG", "POS"],
        use_query=False,
        encoder=SimpleNamespace(name="tiny", max_tokens=64),
    )
    data = SimpleNamespace(train=(1, 2, 3), dev=(1,), gold_ids=("a",), notes=("a note",))
    card = card_for(model, SimpleNamespace(seed=7), data, replace(results, faithful=measured), faithful=given)
    assert f"| Faithful | {faithful} |" in card
    assert "3 training examples, 1 of them with a gold rationale; 1 dev examples" in card
    assert "a note." in card
    assert "| Seed | 7 |" in card
