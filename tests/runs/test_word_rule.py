"""What a word is goes from the data to the run, the saved model and its explanations."""

from __future__ import annotations

from dataclasses import replace

import pytest

from helpers import Listener, tiny_corpus, tiny_run
from rationalize.files import read_json
from rationalize.runs.model_folder import load_model
from rationalize.runs.run import train
from rationalize.runs.training_data import make_training_data
from rationalize.types import Example


@pytest.mark.parametrize(("rule", "n_words"), [("unicode", 5), ("whitespace", 4)])
def test_a_model_keeps_the_rule_of_its_data(tmp_path, rule, n_words):
    corpus = tiny_corpus(12)
    config = tiny_run("un_rat", training={"epochs": 1})
    train(
        config, make_training_data(config, corpus[:8], corpus[8:], words=rule), tmp_path / "run", Listener()
    )
    assert read_json(tmp_path / "run" / "model" / "config.json")["words"] == rule
    engine = load_model(tmp_path / "run").engine()
    (explained,) = engine.explain([Example("1", "a truly gripping story.")])
    assert len(explained.explanation.words) == n_words


def test_the_settings_may_overrule_the_data():
    corpus = tiny_corpus(12)
    config = tiny_run("un_rat", data={"words": "whitespace"})
    assert make_training_data(config, corpus[:8], corpus[8:], words="unicode").words == "whitespace"


def test_the_rule_is_part_of_what_a_run_learns_from():
    corpus = tiny_corpus(12)
    data = make_training_data(tiny_run("un_rat"), corpus[:8], corpus[8:], words="unicode")
    assert data.fingerprint() != replace(data, words="whitespace").fingerprint()
