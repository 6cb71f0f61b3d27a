"""A run from start to end: its folder, how its epoch is chosen, and when it may be resumed."""

from __future__ import annotations

import json
import os
import shutil
import signal
from dataclasses import replace

import pytest
import torch
from runs_helpers import interrupt, plain_config, run, small_config, small_data, tree

from helpers import Intruder, Listener, add_slow, tiny_corpus
from rationalize.errors import BusyError, CheckpointError, ConfigError
from rationalize.interrupts import Interrupted
from rationalize.runs import run as running
from rationalize.runs.model_folder import load_model
from rationalize.runs.run import find_shortcuts
from rationalize.runs.run_folder import hold_run
from rationalize.runs.training_data import make_training_data
from rationalize.training.loop import read_log

CONFIG = plain_config(training={"select_by": "auto"})


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A finished run, to be looked at only."""
    folder = tmp_path_factory.mktemp("finished") / "run"
    run(CONFIG, folder)
    return folder


@pytest.fixture
def copy(finished, tmp_path):
    """A finished run, to be changed."""
    return shutil.copytree(finished, tmp_path / "run")


@pytest.fixture
def halfway(tmp_path):
    """A run that was interrupted with two checkpoints behind it."""
    interrupt(CONFIG, tmp_path / "run", 7)
    assert len(list((tmp_path / "run" / "checkpoints").glob("step-*"))) == 2
    return tmp_path / "run"


def test_a_run_folder_has_all_that_a_run_is(finished):
    assert {path.name for path in finished.iterdir()} == {
        ".lock",
        "run.json",
        "config.resolved.yaml",
        "gold_ids.json",
        "env.json",
        "metrics.jsonl",
        "results.json",
        "model",
    }
    assert json.loads((finished / "gold_ids.json").read_text()) == list(small_data(CONFIG).gold_ids)


def test_the_saved_model_is_the_one_of_the_best_epoch(finished):
    """What results.json says of dev is what the saved model does, and what the log said of its epoch."""
    results = json.loads((finished / "results.json").read_text())["dev"]
    best = [row for row in read_log(finished / "metrics.jsonl") if row.get("best")][-1]
    explained = load_model(finished / "model").engine().explain(small_data(CONFIG).dev)
    selected = [item.explanation.selected for item in explained]
    fraction = sum(map(sum, selected)) / sum(map(len, selected))
    assert results["metrics"]["selected_fraction"] == pytest.approx(best["dev"]["selected_fraction"])
    assert results["metrics"]["selected_fraction"] == pytest.approx(fraction)


def test_a_finished_run_can_be_resumed_and_stays_as_it_is(copy, finished):
    said = run(CONFIG, copy, resume=True)
    assert not said.steps
    assert tree(copy) == tree(finished)


def test_a_run_is_not_overwritten(copy, finished):
    with pytest.raises(ConfigError, match=r"already holds a run\. Resume it"):
        run(CONFIG, copy)
    assert tree(copy) == tree(finished)


def flip_a_byte(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_from_a_damaged_checkpoint_it_falls_back_and_ends_with_the_same_files(halfway, finished):
    newest = sorted((halfway / "checkpoints").glob("step-*"))[-1]
    flip_a_byte(newest / "optimizer.safetensors")
    said = run(CONFIG, halfway, resume=True)
    assert [message for message in said.messages if f"{newest.name} is damaged" in message]
    assert 0 < said.resumed_at < said.total
    assert tree(halfway) == tree(finished)


def test_from_nothing_but_damaged_checkpoints_it_starts_over_and_ends_with_the_same_files(halfway, finished):
    for folder in (halfway / "checkpoints").glob("step-*"):
        flip_a_byte(folder / "model.safetensors")
    said = run(CONFIG, halfway, resume=True)
    assert "training starts from the beginning" in said.messages[-1]
    assert said.resumed_at == 0
    assert tree(halfway) == tree(finished)


def test_damaged_best_weights_are_not_passed_off_as_the_model(tmp_path, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(running, "evaluate_model", stop)  # trained to the end, not scored yet
        with pytest.raises(KeyboardInterrupt):
            run(CONFIG, tmp_path / "run")
    flip_a_byte(tmp_path / "run" / "checkpoints" / "best" / "model.safetensors")
    with pytest.raises(CheckpointError, match=r"best weights(.|\n)*SHA-256 differs(.|\n)*Train again"):
        run(CONFIG, tmp_path / "run", resume=True)


def test_what_a_finished_run_keeps_is_a_setting(tmp_path):
    """Everything is kept if asked for; else no weights but the model's, and every small file."""
    for keep in ("all", "model"):
        run(small_config(training={"keep": keep, "warm_start": 1}), tmp_path / keep)
    all, lean = tree(tmp_path / "all"), tree(tmp_path / "model")
    weights = [name for name in lean if name.endswith(".safetensors")]
    assert weights == ["model/model.safetensors"]
    assert {"checkpoints", "artifacts/warm_start/model", "artifacts/un_rat/model"} <= all.keys()
    dropped = {name for name in all.keys() - lean.keys() if name.startswith("artifacts")}
    assert all["model/model.safetensors"] == lean["model/model.safetensors"]
    assert {name.split("/")[2] for name in dropped} == {"model"}


def with_epochs(epochs, **training):
    return plain_config(training={"select_by": "auto", "keep": "all", "epochs": epochs, **training})


@pytest.mark.slow
def test_epochs_can_be_added_to_a_finished_run(tmp_path):
    run(with_epochs(2), tmp_path / "run")
    before = read_log(tmp_path / "run" / "metrics.jsonl")
    said = run(with_epochs(4), tmp_path / "run", resume=True)
    assert [epoch for epoch, _, _ in said.epochs] == [2, 3]
    assert (said.resumed_at, said.total) == (before[-1]["step"], 2 * before[-1]["step"])
    assert read_log(tmp_path / "run" / "metrics.jsonl")[: len(before)] == before
    origin = load_model(tmp_path / "run").config.provenance
    assert (origin.training.epochs, origin.extended_from) == (4, (2,))
    # Interrupted, it goes on to the same end.
    run(with_epochs(2), tmp_path / "other")
    interrupt(with_epochs(4), tmp_path / "other", 3, resume=True)
    assert (
        load_model(tmp_path / "other").config.provenance.training.epochs == 2
    )  # the old model is still there
    run(with_epochs(4), tmp_path / "other", resume=True)
    assert tree(tmp_path / "other") == tree(tmp_path / "run")


def test_epochs_are_not_added_where_they_cannot_be(copy, finished):
    with pytest.raises(CheckpointError, match=r"no epochs can be added.*training\.keep=all"):
        run(with_epochs(4, keep="model"), copy, resume=True)
    assert tree(copy) == tree(finished)


def test_epochs_are_not_added_before_a_run_is_finished(halfway):
    with pytest.raises(CheckpointError, match=r"was 3, now 4(.|\n)*may be raised once the run is finished"):
        run(with_epochs(4), halfway, resume=True)


@pytest.mark.parametrize(
    ("changes", "difference"),
    [
        ({"seed": 9}, "seed: was 0, now 9"),
        ({"training": {"learning_rate": 0.5}}, "training.learning_rate: was 0.0003, now 0.5"),
        ({"training": {"epochs": 2}}, "training.epochs: was 3, now 2"),
        ({"options": {"label_from": "full_text"}}, "options.label_from: was 'rationale', now 'full_text'"),
        ({"encoder": {"layers": 2}}, "encoder.layers: was 1, now 2"),
    ],
)
def test_a_run_goes_on_only_with_its_own_settings(copy, finished, changes, difference):
    values = CONFIG.model_dump()
    for section, change in changes.items():
        values[section] = {**values[section], **change} if isinstance(change, dict) else change
    other = type(CONFIG).model_validate(values)
    with pytest.raises(CheckpointError) as caught:
        run(other, copy, resume=True, data=small_data(CONFIG))
    assert difference in str(caught.value)
    assert tree(copy) == tree(finished)


def test_a_run_goes_on_only_with_its_own_data(copy, finished):
    data = small_data(CONFIG)
    other = replace(data, train=(replace(data.train[0], text="another text"), *data.train[1:]))
    with pytest.raises(CheckpointError, match="data: the examples"):
        run(CONFIG, copy, resume=True, data=other)
    assert tree(copy) == tree(finished)


def test_how_often_it_is_saved_and_where_things_lie_may_change(halfway, finished):
    values = CONFIG.model_dump()
    values["training"] |= {"checkpoint_every": 7, "keep_checkpoints": 1, "cache": "elsewhere"}
    values |= {"device": "auto", "data": {**values["data"], "path": "moved"}}
    run(type(CONFIG).model_validate(values), halfway, resume=True)
    assert (halfway / "model" / "model.safetensors").read_bytes() == (
        finished / "model" / "model.safetensors"
    ).read_bytes()


@pytest.mark.parametrize("resume", [True, False])
def test_a_folder_that_is_not_a_run_is_left_alone(tmp_path, resume):
    (tmp_path / ".notes.part-1").write_text("mine")
    for place in (tmp_path, tmp_path / ".notes.part-1"):
        with pytest.raises(ConfigError, match="not a run folder"):
            run(CONFIG, place, resume=resume)
    assert [path.name for path in tmp_path.iterdir()] == [".notes.part-1"]


def test_a_device_that_is_not_there_is_refused_before_anything_is_done(tmp_path, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    config = CONFIG.model_copy(update={"device": "cuda"})
    for work in (running.train, running.find_shortcuts):
        with pytest.raises(ConfigError, match="device: 'cuda' is not available"):
            work(config, small_data(CONFIG), tmp_path / "run", Listener())
    assert not (tmp_path / "run").exists()


def test_a_run_uses_the_device_that_it_is_given(tmp_path, monkeypatch):
    """Until the first step, which the only other device of every machine cannot take."""
    monkeypatch.setattr(running, "resolve_device", lambda name: torch.device("meta"))
    built = []
    original = running.Trainer
    monkeypatch.setattr(
        running, "Trainer", lambda *args, **named: built.append(named) or original(*args, **named)
    )
    with pytest.raises(RuntimeError, match="on meta tensors"):
        run(CONFIG, tmp_path / "run")
    assert built[0]["device"] == torch.device("meta")


def test_a_method_without_gold_is_not_chosen_by_gold(tmp_path):
    """The gold rationales of dev change what is reported of Un-RAT, never which weights are kept."""
    config = plain_config("un_rat", training={"select_by": "auto", "learning_rate": 3e-3})
    corpus = tiny_corpus(50)
    blind = [replace(example, rationale=None) for example in corpus[40:]]
    kept = []
    for name, dev in (("seen", corpus[40:]), ("blind", blind)):
        run(config, tmp_path / name, data=make_training_data(config, corpus[:40], dev))
        kept.append((tmp_path / name / "model" / "model.safetensors").read_bytes())
        log = read_log(tmp_path / name / "metrics.jsonl")
        assert any("token_f1" in row.get("dev", {}) for row in log) == (name == "seen")
    assert kept[0] == kept[1]


def test_a_second_writer_of_a_run_is_refused_and_changes_nothing(halfway):
    before = tree(halfway)
    with hold_run(halfway):
        for resume in (True, False):
            with pytest.raises(BusyError, match=f"process {os.getpid()} on"):
                run(CONFIG, halfway, resume=resume)
    assert tree(halfway) == before


def test_shortcuts_are_discovered_by_one_process_at_a_time(tmp_path):
    config = small_config()
    with hold_run(tmp_path / "found"), pytest.raises(BusyError):
        find_shortcuts(config, small_data(config), tmp_path / "found", Listener())


@pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")
@pytest.mark.parametrize(
    ("number", "at"),
    add_slow(
        [(signal.SIGINT, 3), (signal.SIGTERM, 1)],
        [(signal.SIGINT, 1), (signal.SIGINT, 5), (signal.SIGTERM, 3), (signal.SIGTERM, 5)],
    ),
)
def test_a_signal_ends_a_run_after_its_step_with_a_checkpoint_of_it(tmp_path, finished, number, at):
    folder, display = tmp_path / "run", Intruder(at, lambda: os.kill(os.getpid(), number))
    with pytest.raises(Interrupted, match=f"after step {at}; saved .*step-0000000{at}") as stop:
        running.train(CONFIG, small_data(CONFIG), folder, display)
    assert stop.value.signal == number
    assert len(display.steps) == at
    assert (folder / "checkpoints" / f"step-{at:08d}" / "MANIFEST.json").is_file()
    resumed = run(CONFIG, folder, resume=True)
    assert resumed.steps[0][1] == at + 1
    assert tree(folder) == tree(finished)
