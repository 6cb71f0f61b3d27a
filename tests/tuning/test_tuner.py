"""A search: chosen by dev, resumable, the same however often it was interrupted."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from helpers import tiny_corpus
from rationalize.cli.main import app
from rationalize.data.dataset import DataSet
from rationalize.data.jsonl import write_jsonl
from rationalize.errors import ConfigError, RationalizeError, TrainingError
from rationalize.files import read_json, write_json, write_text
from rationalize.reporting.report import render_report
from rationalize.tuning.search_plan import Dimension, SearchPlan
from rationalize.tuning.tuning_report import make_tuning_report
from rationalize.work.resources import Resources

pytest.importorskip("optuna", reason="optuna is not installed")
PLAN = SearchPlan(
    preset=None,
    settings={"method": "un_rat", "encoder.name": "tiny"},
    space={
        "training.learning_rate": Dimension(low=1e-5, high=1e-2, log=True),
        "training.batch_size": Dimension(choices=(4, 8)),
    },
)
DATA = DataSet("tiny", {"train": tuple(tiny_corpus(16)), "dev": tuple(tiny_corpus(8))})


class Silent:
    def __init__(self):
        self.messages = []

    def message(self, text):
        self.messages.append(text)


@pytest.fixture
def trained(monkeypatch):
    """Stand in for the training: the score is known, and some trials are interrupted or diverge."""
    runs = []

    def train(config, data, folder, display, *, resume, card):
        rate = config.training.learning_rate
        runs.append((folder.name, rate))
        if behavior.get(len(runs)) is not None:
            raise behavior[len(runs)]
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / "config.resolved.yaml", f"learning_rate: {rate}\n")
        write_json(
            folder / "results.json", {"dev": {"metrics": {"task_f1_weighted": 1 - rate, "auprc": None}}}
        )

    behavior = {}
    monkeypatch.setattr("rationalize.tuning.tuner.train", train)
    return runs, behavior


def search(out, trials, plan=PLAN, data=DATA, display=None):
    from rationalize.tuning.tuner import tune

    return tune(plan, data, out, display or Silent(), trials=trials)


def test_the_best_on_dev_is_kept(tmp_path, trained):
    found = search(tmp_path / "out", 4)
    rates = [trial.values["training.learning_rate"] for trial in found.trials]
    assert found.best.values["training.learning_rate"] == min(rates)
    assert read_json(tmp_path / "out" / "tuning.json")["best"]["number"] == found.best.number
    assert f"{min(rates)}" in (tmp_path / "out" / "best.yaml").read_text()
    page = render_report(make_tuning_report(PLAN, found, "rationalize tune"))
    assert "best so far" in page
    assert "log10 of training.learning_rate" in page
    assert "training.batch_size (0: 4, 1: 8)" in page


def test_interrupted_and_resumed_it_tries_the_same_values(tmp_path, trained):
    runs, behavior = trained
    whole = search(tmp_path / "whole", 4)
    runs.clear()
    behavior[2] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        search(tmp_path / "cut", 4)
    assert [name for name, _ in runs] == ["0000", "0001"]
    behavior.clear()
    again = search(tmp_path / "cut", 4)
    assert [name for name, _ in runs] == ["0000", "0001", "0001", "0002", "0003"]
    assert [trial.values for trial in again.trials] == [trial.values for trial in whole.trials]
    assert [trial.score for trial in again.trials] == [trial.score for trial in whole.trials]
    assert search(tmp_path / "cut", 4) == again  # nothing is left to do
    assert len(search(tmp_path / "cut", 5).trials) == 5


def test_trials_that_are_chosen_together_are_the_same_after_an_interruption(tmp_path, trained):
    runs, behavior = trained
    plan = PLAN.model_copy(update={"at_once": 3})
    whole = search(tmp_path / "whole", 5, plan=plan)
    assert [name for name, _ in runs] == ["0000", "0001", "0002", "0003", "0004"]
    runs.clear()
    behavior[2] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        search(tmp_path / "cut", 5, plan=plan)
    behavior.clear()
    other = plan.model_copy(update={"resources": Resources(gpus=1)})  # what it runs on is no other search
    again = search(tmp_path / "cut", 5, plan=other)
    assert [name for name, _ in runs] == ["0000", "0001", "0001", "0002", "0003", "0004"]
    assert [trial.values for trial in again.trials] == [trial.values for trial in whole.trials]


def test_a_trial_that_diverges_is_noted_and_the_search_goes_on(tmp_path, trained):
    _, behavior = trained
    behavior[1] = TrainingError("losses are no longer finite")
    display = Silent()
    found = search(tmp_path / "out", 2, display=display)
    assert [trial.state for trial in found.trials] == ["failed", "complete"]
    assert "trial 0 failed" in display.messages[0]


def test_another_search_in_the_same_folder_is_refused(tmp_path, trained):
    search(tmp_path / "out", 1)
    other = PLAN.model_copy(update={"seed": 1})
    with pytest.raises(ConfigError, match="holds another search"):
        search(tmp_path / "out", 2, plan=other)
    more = DataSet("tiny", {"train": tuple(tiny_corpus(14)), "dev": tuple(tiny_corpus(8))})
    with pytest.raises(ConfigError, match="holds another search"):
        search(tmp_path / "out", 2, data=more)


def test_a_metric_that_dev_does_not_have_is_named(tmp_path, trained):
    with pytest.raises(ConfigError, match="'auprc', which dev does not have here"):
        search(tmp_path / "out", 1, plan=PLAN.model_copy(update={"metric": "auprc"}))


def test_the_command(tmp_path, trained):
    data = tmp_path / "data"
    data.mkdir()
    for split, examples in DATA.items():
        write_jsonl(data / f"{split}.jsonl", examples)
    space = tmp_path / "space.yaml"
    space.write_text("preset: null\nspace: {training.batch_size: {choices: [4, 8, 16]}}\n")
    words = ["tune", str(space), "--out", str(tmp_path / "out"), "--trials", "2", "--quiet"]
    missing = CliRunner().invoke(app, words)
    assert isinstance(missing.exception, RationalizeError)
    assert "nothing to train on" in str(missing.exception)
    words += ["--data", str(data), "--encoder", "tiny", "--method", "un_rat", "--json"]
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert len(json.loads(done.output)["trials"]) == 2
    assert (tmp_path / "out" / "report.html").is_file()


def test_without_optuna_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "optuna", None)
    with pytest.raises(ConfigError, match=r"rationalize\[tune\]"):
        search(tmp_path / "out", 1)
    assert not (tmp_path / "out").exists()
