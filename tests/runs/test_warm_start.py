from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch

from helpers import Listener, tiny_corpus, tiny_run
from rationalize.files import write_json
from rationalize.locks import HOLDER
from rationalize.methods.full_text.full_text import FullText
from rationalize.runs.build import build_untrained
from rationalize.runs.model_folder import load_model
from rationalize.runs.run import train, train_first
from rationalize.runs.training_data import make_training_data
from rationalize.runs.warm_start import name_classifier, warm_up

QUICK = {"epochs": 1, "batch_size": 8, "warm_start": 2}


def config_and_data(method: str, keep: str = "model", **settings):
    config = tiny_run(method, training={**QUICK, "keep": keep}, **settings)
    return config, make_training_data(config, tiny_corpus(24), tiny_corpus(8, seed=1))


@pytest.mark.parametrize("encoder", ["tiny", "gru"])
def test_every_encoder_starts_as_the_classifiers(tmp_path, encoder):
    config, data = config_and_data("ssr_virt", encoder={"name": encoder, "hidden_size": 16, "heads": 2})
    model = build_untrained(config, warm_up(config, data, tmp_path / "warm", Listener(), train_first))
    classifier = load_model(tmp_path / "warm" / "model").method.net.encoder.state_dict()
    method = model.method
    for own in (method.net.encoder, method.imitator):
        assert all(torch.equal(tensor, classifier[name]) for name, tensor in own.state_dict().items())
    assert method.net.encoder is not method.imitator
    head = load_model(tmp_path / "warm" / "model").method.net.head
    assert torch.equal(method.net.class_head.weight, head.weight)
    assert not torch.equal(method.shortcut_head.weight, head.weight)
    cold = build_untrained(config, data).method.net.encoder.state_dict()
    assert not all(torch.equal(tensor, classifier[name]) for name, tensor in cold.items())


def test_a_head_that_tells_something_else_than_the_label_starts_anew(tmp_path):
    config, data = config_and_data("pipeline")
    method = build_untrained(config, warm_up(config, data, tmp_path / "warm", Listener(), train_first)).method
    head = load_model(tmp_path / "warm" / "model").method.net.head
    assert torch.equal(method.classifier.head.weight, head.weight)
    assert not torch.equal(method.identifier.head.weight, head.weight)


def test_the_classifier_is_trained_once_on_labels_alone_and_serves_the_finder_too(tmp_path):
    config, data = config_and_data("ssr_unif", keep="all")
    listener = Listener()
    train(config, data, tmp_path / "run", listener)
    artifacts = tmp_path / "run" / "artifacts"
    assert json.loads((artifacts / "warm_start" / "gold_ids.json").read_text()) == []
    written = json.loads((artifacts / "warm_start" / "run.json").read_text())["config"]
    assert (written["method"], written["training"]["epochs"], written["training"]["warm_start"]) == (
        "full_text",
        2,
        0,
    )
    assert [phase for phase, _, _ in listener.steps].count("classify") == 2 * 3
    assert (artifacts / "un_rat" / "model").is_dir()
    assert not (artifacts / "un_rat" / "artifacts" / "warm_start").exists()


def test_runs_that_differ_in_what_the_classifier_does_not_see_have_it_in_common():
    def name(method: str, training: dict | None = None, **settings) -> str | None:
        config = tiny_run(method, training={**QUICK, **(training or {})}, **settings)
        return name_classifier(config, make_training_data(config, tiny_corpus(24), tiny_corpus(8, seed=1)))

    common = name("un_rat")
    assert name("semi_rat") == name("sup_rat") == name("semi_rat", data={"gold_share": 0.5}) == common
    assert name("un_rat", augment={"kind": "random"}) == common
    assert (
        len(
            {
                common,
                name("un_rat", {"warm_start": 3}),
                name("un_rat", seed=1),
                name("un_rat", {"warm_start": 0}),
            }
        )
        == 4
    )
    assert name("un_rat", {"warm_start": 0}) is None


def test_a_finished_classifier_is_used_as_it_is(tmp_path):
    config, data = config_and_data("un_rat")
    warm_up(config, data, tmp_path / "warm", Listener(), train_first)
    # As a process leaves it that was killed while it tidied up.
    left = tmp_path / "warm" / "checkpoints" / "step-00000002"
    left.mkdir(parents=True)
    write_json(tmp_path / "warm" / HOLDER, {"pid": 1, "host": "gone", "since": "long ago"})
    listener = Listener()
    assert (
        warm_up(config, data, tmp_path / "warm", listener, train_first).start == tmp_path / "warm" / "model"
    )
    assert not listener.steps
    assert not left.parent.exists()
    assert not (tmp_path / "warm" / HOLDER).exists()
    cold = config.model_copy(update={"training": config.training.model_copy(update={"warm_start": 0})})
    assert warm_up(cold, replace(data), tmp_path / "none", listener, train_first).start is None


def test_nobody_asks_the_classifier_for_words_or_results(tmp_path, monkeypatch):
    """To find words costs a classifier more than to learn from a text, and no one looks at them."""

    def refuse(self, batch):
        raise AssertionError("asked for words")

    monkeypatch.setattr(FullText, "explain", refuse)
    config, data = config_and_data("un_rat")
    warm_up(config, data, tmp_path / "warm", Listener(), train_first)
    epochs = [json.loads(line) for line in (tmp_path / "warm" / "metrics.jsonl").read_text().splitlines()]
    assert any("task_f1" in row.get("dev", {}) for row in epochs)
    assert not (tmp_path / "warm" / "results.json").exists()
