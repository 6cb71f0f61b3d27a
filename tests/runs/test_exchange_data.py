"""Shortcuts that are exchanged before anything is trained, in a whole run."""

from __future__ import annotations

from dataclasses import replace

import pytest
import runs_helpers as runs

from helpers import Listener, tiny_corpus
from rationalize.errors import ConfigError
from rationalize.files import read_json
from rationalize.runs._exchange_data import exchange_data
from rationalize.runs._workspace import Workspace
from rationalize.runs.preparation import check_shortcuts, prepare_data
from rationalize.runs.training_data import make_training_data
from rationalize.shortcuts.phrase_search import suspect


def refuse(*_args, **_keywords):
    raise AssertionError("a method was trained")


def exchange(config, folder, corpus):
    data = make_training_data(config, corpus[:-20], corpus[-20:])
    display = Listener()
    return data, exchange_data(Workspace(config, folder, display, refuse), data), display


def forget(corpus):
    return [replace(example, shortcuts=None) for example in corpus]


@pytest.mark.parametrize("method", ["semi_rat", "un_rat", "sup_rat"])
def test_no_phrase_tells_the_label_any_more(tmp_path, method):
    config = runs.plain_config(method, shortcuts={"exchange": True})
    before, after, display = exchange(config, tmp_path, forget(tiny_corpus(220)))
    assert any(each.shortcuts for each in suspect(before.train, before.words))
    assert not any(each.shortcuts for each in suspect(after.train, after.words))
    assert (after.dev, after.gold_ids) == (before.dev, before.gold_ids)
    assert "dealt out anew" in display.messages[0]
    assert read_json(tmp_path / "exchange.json")["n_with_shortcut"] > 100


def test_known_shortcuts_are_taken_from_all_texts(tmp_path):
    config = runs.plain_config("semi_rat", shortcuts={"exchange": True, "source": "known"})
    _, _, display = exchange(config, tmp_path, tiny_corpus(60))
    assert display.messages == ["exchange: shortcuts of 40 of 40 training texts were dealt out anew"]
    assert read_json(tmp_path / "exchange.json")["against_truth"] == {"precision": 1.0, "recall": 1.0}


def test_nothing_to_exchange_is_a_warning(tmp_path):
    config = runs.plain_config("semi_rat", shortcuts={"exchange": True})
    before, after, _ = exchange(
        config, tmp_path, forget(tiny_corpus(30))
    )  # too few documents to suspect anything
    assert after.train == before.train
    assert "nothing to exchange" in after.warnings[0]


def test_a_whole_run_reads_the_exchanged_texts(tmp_path):
    corpus = forget(tiny_corpus(60))
    config = runs.plain_config("semi_rat", shortcuts={"exchange": True}, training={"epochs": 1})
    display = runs.run(config, tmp_path / "run", data=make_training_data(config, corpus[:48], corpus[48:]))
    assert any("dealt out anew" in message for message in display.messages)
    assert (tmp_path / "run" / "artifacts" / "exchange.json").is_file()


def test_an_audit_is_a_source_of_shortcuts_for_all_texts(tmp_path):
    corpus = tiny_corpus(200)
    config = runs.plain_config("ssr_unif", shortcuts={"source": "audit"})
    data = make_training_data(config, corpus[:180], corpus[180:])
    found = prepare_data(Workspace(config, tmp_path, Listener(), refuse), data)
    assert all(example.shortcuts for example in found.train)
    assert read_json(tmp_path / "shortcuts.json")["against_truth"]["recall"] > 0.9


@pytest.mark.parametrize("setting", [{"propagate": "phrase"}, {"rounds": 2}])
def test_an_audit_leaves_nothing_to_carry_over(setting):
    config = runs.plain_config("ssr_unif", shortcuts={"source": "audit", **setting})
    with pytest.raises(ConfigError, match=r"source is audit.*propagate=none and shortcuts.rounds=1"):
        check_shortcuts(config, runs.small_data(config))


def test_shortcuts_of_one_label_alone_cannot_be_exchanged_away(tmp_path):
    config = runs.plain_config("semi_rat", shortcuts={"exchange": True, "source": "known"})
    corpus = [
        replace(each, shortcuts=each.shortcuts if each.label == "POS" else ()) for each in tiny_corpus(220)
    ]
    _, after, _ = exchange(config, tmp_path, corpus)
    assert (
        "still tells the label: 100 % of the 100 texts with one are POS, of all texts 50 %"
        in after.warnings[0]
    )
