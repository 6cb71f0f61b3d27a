from __future__ import annotations

from dataclasses import replace

import pytest
import yaml

from helpers import tiny_model, tiny_run
from rationalize.reporting.card import CardInfo, format_card, render_card
from rationalize.runs.provenance import DataFacts, describe_run

FACTS = DataFacts(
    name=None, n_train=3, n_dev=1, n_gold=1, gold_share=0.25, notes=("a note",), fingerprint="0" * 64
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
    assert "Verdict on test (8 examples): not good yet; 1 of 1 comparisons hold, 1 warning." in card
    assert "- The rationale is above the best selector that ignores the text" in card
    assert "| NEG | 100.0 | 75.0 | 85.7 | 4 |" in card


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


@pytest.mark.parametrize(("measured", "faithful"), [(None, "yes"), (False, "no"), (True, "yes")])
def test_the_card_of_a_model_has_what_was_measured_of_it(results, measured, faithful):
    """From the config alone; what is known of this very model goes before what its method is by default."""
    config = tiny_model("semi_rat").config
    dev = replace(results, faithful=measured).to_dict()
    origin = describe_run(tiny_run("semi_rat", seed=7), FACTS, dev, "cpu")
    card = render_card(config.model_copy(update={"provenance": origin}))
    assert f"| Faithful | {faithful} |" in card
    assert "3 training examples, 1 of them with a gold rationale; 1 dev examples" in card
    assert "a note." in card
    assert "| Seed | 7 |" in card


def test_added_epochs_are_reported(results):
    origin = describe_run(tiny_run("semi_rat"), FACTS, results.to_dict(), "cpu", extended_from=(2, 5))
    card = render_card(tiny_model("semi_rat").config.model_copy(update={"provenance": origin}))
    assert "planned for 2, then 5 epochs and then extended" in card


@pytest.mark.parametrize(
    ("kept", "shown"), [(None, "| Encoder | tiny, "), (6, r"| Encoder | tiny (its first 6 layers), ")]
)
def test_layers_that_were_left_out_are_reported(kept, shown):
    config = tiny_model("semi_rat").config
    encoder = config.encoder.model_copy(update={"keep_layers": kept})
    assert shown in render_card(config.model_copy(update={"encoder": encoder}))
