from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from helpers import Listener, tiny_corpus, tiny_run
from rationalize.data.jsonl import read_jsonl
from rationalize.errors import ConfigError
from rationalize.runs import preparation as pipeline
from rationalize.runs.run import train
from rationalize.runs.training_data import drop_gold, make_training_data

QUICK = {"epochs": 1, "batch_size": 8}


def run(folder: Path, method: str = "ssr_unif", **settings):
    config = tiny_run(method, training=QUICK, **settings)
    data = make_training_data(config, tiny_corpus(24), tiny_corpus(8, seed=1))
    listener = Listener()
    train(config, data, folder, listener, resume=True)
    return data, listener


def test_a_run_leaves_its_artifacts_and_uses_them_again(tmp_path):
    finder = {"selection": {"decoding": "topk", "share": 0.6}}
    settings = {"shortcuts": {"finder": finder, "min_run": 2}, "augment": {"kind": "mixed"}}
    data, listener = run(tmp_path / "run", **settings)
    artifacts = tmp_path / "run" / "artifacts"
    found = list(read_jsonl(artifacts / "shortcuts.jsonl"))
    assert {example.id for example in found} == set(data.gold_ids)
    assert any(example.shortcuts for example in found)
    numbers = json.loads((artifacts / "shortcuts.json").read_text())
    assert numbers["n_examples"] == len(data.gold_ids)
    assert numbers["against_truth"].keys() == {"precision", "recall"}
    assert {"supervised", "supervised_augmented", "unsupervised"} == {
        phase for phase, _, _ in listener.steps[-10:]
    } | {phase for phase, _, _ in listener.steps if phase.startswith("supervised")}
    stamps = {path: path.stat().st_mtime_ns for path in artifacts.glob("*.json*")}
    run(tmp_path / "run", **settings)
    assert stamps == {path: path.stat().st_mtime_ns for path in artifacts.glob("*.json*")}


def test_the_finder_learns_from_examples_without_gold_only(tmp_path):
    run(tmp_path / "run")
    identity = json.loads((tmp_path / "run" / "artifacts" / "un_rat" / "run.json").read_text())
    assert identity["config"]["method"] == "un_rat"
    assert json.loads((tmp_path / "run" / "artifacts" / "un_rat" / "gold_ids.json").read_text()) == []


def test_known_and_random_shortcuts(tmp_path):
    run(tmp_path / "known", shortcuts={"source": "known"})
    assert not (tmp_path / "known" / "artifacts" / "un_rat").exists()
    finder = {"selection": {"decoding": "topk", "share": 0.6}}
    run(tmp_path / "found", shortcuts={"finder": finder, "min_run": 2})
    run(tmp_path / "random", shortcuts={"finder": finder, "min_run": 2, "source": "random"})
    found, moved = (
        list(read_jsonl(tmp_path / name / "artifacts" / "shortcuts.jsonl")) for name in ("found", "random")
    )
    assert [e.id for e in found] == [e.id for e in moved]
    assert [e.shortcuts for e in found] != [e.shortcuts for e in moved]


def test_augmenting_data_without_gold_is_refused_before_any_training(tmp_path):
    config = tiny_run("un_rat", training=QUICK, augment={"kind": "random"})
    bare = [replace(example, rationale=None) for example in tiny_corpus(24)]
    data = make_training_data(config, bare, tiny_corpus(8))
    with pytest.raises(ConfigError, match="comparing with gold rationales"):
        train(config, data, tmp_path / "run", Listener())
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("method", ["un_rat", "invrat"])
def test_a_method_without_gold_learns_from_the_labels_of_copies_alone(tmp_path, monkeypatch, method):
    seen = []
    monkeypatch.setattr(pipeline, "drop_gold", lambda data: seen.append(drop_gold(data)) or seen[-1])
    finder = {"selection": {"decoding": "topk", "share": 0.6}}
    settings = {"shortcuts": {"finder": finder, "min_run": 1}, "augment": {"kind": "semantic"}}
    data, listener = run(tmp_path / "run", method, **settings)
    copies = list(read_jsonl(tmp_path / "run" / "artifacts" / "augmented-semantic-0.25.jsonl"))
    assert {copy.id.split("~")[0] for copy in copies} <= set(data.gold_ids)
    (own,) = (each for each in seen if each.augmented)
    assert [copy.id for copy in own.augmented] == [copy.id for copy in copies]
    assert not own.gold_ids
    assert not any(example.rationale for example in (*own.train, *own.augmented))
    assert any(phase.endswith("_augmented") for phase, _, _ in listener.steps)
    if method == "invrat":
        found = json.loads((tmp_path / "run" / "artifacts" / "environments.json").read_text())["environments"]
        assert {copy.id for copy in copies} <= found.keys()


def test_counterfactual_copies_need_no_shortcuts(tmp_path):
    data, listener = run(tmp_path / "run", "semi_rat", augment={"kind": "counterfactual"})
    artifacts = tmp_path / "run" / "artifacts"
    assert [path.name for path in artifacts.iterdir()] == ["augmented-counterfactual-0.25.jsonl"]
    copies = list(read_jsonl(artifacts / "augmented-counterfactual-0.25.jsonl"))
    assert len(copies) == 6
    assert {copy.id.split("~")[0] for copy in copies} <= set(data.gold_ids)
    assert "supervised_augmented" in {phase for phase, _, _ in listener.steps}


def test_counterfactual_copies_and_discovered_shortcuts_go_together(tmp_path):
    finder = {"selection": {"decoding": "topk", "share": 0.6}}
    settings = {"shortcuts": {"finder": finder, "min_run": 2}, "augment": {"kind": "counterfactual"}}
    run(tmp_path / "run", "ssr_unif", **settings)
    found = list(read_jsonl(tmp_path / "run" / "artifacts" / "shortcuts.jsonl"))
    copies = list(read_jsonl(tmp_path / "run" / "artifacts" / "augmented-counterfactual-0.25.jsonl"))
    marked = {each.id: len(each.shortcuts or ()) for each in found}
    assert any(marked.values())
    assert all(len(copy.shortcuts or ()) == marked[copy.id.split("~")[0]] for copy in copies)


def test_evidence_for_queries_is_not_exchanged(tmp_path):
    config = tiny_run("semi_rat", training=QUICK, augment={"kind": "counterfactual"})
    asked = [replace(example, query=example.id) for example in tiny_corpus(24)]
    data = make_training_data(config, asked, tiny_corpus(8))
    with pytest.raises(ConfigError, match="have queries"):
        train(config, data, tmp_path / "run", Listener())
    assert not (tmp_path / "run").exists()
