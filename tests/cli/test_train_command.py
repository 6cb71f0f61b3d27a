"""`rationalize train`: where settings come from, which win, and how a run is gone on with."""

from __future__ import annotations

import json

import pytest
import yaml
from typer.testing import CliRunner

from helpers import write_splits
from rationalize.cli.main import app
from rationalize.errors import CheckpointError, ConfigError, RationalizeError
from rationalize.runs.presets import load_preset

TINY = ["encoder.name=tiny", "encoder.hidden_size=16", "encoder.layers=1", "encoder.heads=2"]
SETS = [part for each in TINY for part in ("--set", each)]


def train(*args):
    return CliRunner().invoke(app, ["train", *map(str, args)])


def error(*args):
    failed = train(*args).exception
    assert isinstance(failed, RationalizeError), failed
    return failed


def settings_of(run):
    return yaml.safe_load((run / "config.resolved.yaml").read_text())


@pytest.fixture
def toy(tmp_path):
    """A toy in a folder whose name the presets know, and which is not that data set."""
    return write_splits(tmp_path / "evidence_inference", train=24, val=8)


@pytest.fixture
def small(toy, tmp_path):
    """Trains by the preset small, a little."""
    quick = [*SETS, "--set", "training.warm_start=1", "--set", "training.epoch_share=1"]

    def run(*args, data=toy):
        out = tmp_path / "run"
        made = train("--data", data, "--method", "un_rat", "--preset", "small", *quick, "--out", out, *args)
        assert made.exit_code == 0, made.output
        return made, settings_of(out)

    return run


def test_a_preset_lies_below_what_is_given_and_says_what_it_did(small, tmp_path):
    made, used = small("--set", "training.keep=all")
    assert (used["encoder"]["name"], used["encoder"]["max_tokens"]) == ("tiny", 256)
    assert (used["training"]["warm_start"], used["training"]["epochs"]) == (1, 2)
    assert used["options"]["selection"]["masking"] == "attention"
    assert (tmp_path / "run" / "artifacts" / "warm_start" / "model").is_dir()
    assert "un_rat has no options.pretrain, options.shares" in made.stderr
    assert "options.selection.masking=attention" in made.stderr
    assert "encoder.name=minilm" not in made.stderr  # given otherwise
    assert used["preset"]["skipped"] == ["options.pretrain", "options.shares"]
    assert used["preset"]["applied"]["training.epochs"] == 2
    assert "encoder.name" not in used["preset"]["applied"]


def test_a_folders_name_does_not_choose_the_presets_settings_for_a_data_set(small):
    made, used = small()
    assert used["options"]["selection"]["share"] == 0.2
    assert used["preset"]["data"] is None
    assert "without a part for this data set (data.name can be movies, multirc" in made.stderr


def test_the_data_sets_name_is_given_or_was_recorded_when_it_was_fetched(small, toy, tmp_path):
    part = load_preset("small").by_data["evidence_inference"]
    made, used = small("--data-name", "evidence_inference", "--json")
    assert used["options"]["selection"]["share"] == part["options.selection.share"] == 0.08
    told = json.loads(made.stdout)
    assert told["preset"] == used["preset"]
    assert (told["preset"]["name"], told["preset"]["data"]) == ("small", "evidence_inference")
    (tmp_path / "run").rename(tmp_path / "first")
    (toy / "SOURCE.json").write_text(json.dumps({"name": "evidence_inference"}))
    toy.rename(tmp_path / "renamed")
    _, again = small(data=tmp_path / "renamed")
    assert again["options"] == used["options"]


@pytest.mark.parametrize(
    ("extra", "says"),
    [
        (["--preset", "huge"], "preset 'huge' is unknown. Known: auto, paper, planted, small"),
        (["CONFIG", "--preset", "small"], "Give only one"),
        (["--set", "training.epochs"], "--set training.epochs: expected NAME=VALUE"),
        (["--set", "=3"], "expected NAME=VALUE"),
        (["--set", "seed=[1"], "--set seed=[1: not valid YAML"),
        (["--set", "seed.inner=3"], "seed: Input should be"),
        (["--device", "cuda:7"], "device: 'cuda:7' is not available. This machine has: auto, "),
        (["--device", "gpu"], "device"),
        (["--resume", "RUN"], "found no run to resume"),
    ],
)
def test_what_is_wrong_is_refused_before_anything_is_written(toy, tmp_path, extra, says):
    config = tmp_path / "config.yaml"
    config.write_text("method: un_rat\n")
    places = {"CONFIG": str(config), "RUN": str(tmp_path / "gone")}
    out = [] if "--resume" in extra else ["--out", tmp_path / "run"]
    assert says in str(error(*(places.get(part, part) for part in extra), "--data", toy, *out))
    assert not (tmp_path / "run").exists()


@pytest.fixture
def run(toy, tmp_path):
    """A finished run of one epoch that kept all."""
    folder = tmp_path / "run"
    args = ["--data", toy, "--method", "un_rat", *SETS, "--epochs", 1, "--seed", 3, "--out", folder]
    made = train(*args, "--set", "training.keep=all", "--set", "training.learning_rate=1e-3")
    assert made.exit_code == 0, made.output
    return folder


def test_it_ends_with_a_verdict(run):
    made = train("--resume", run)
    assert "Verdict on dev (8 examples):" in made.output
    assert "a bag of words" in " ".join(made.output.split())
    assert "Labels by class" in made.output
    row = json.loads(train("--resume", run, "--json").stdout)
    assert row["verdict"]["comparisons"][0]["topic"] == "bag"


def test_a_run_is_gone_on_with_by_its_folder_alone(run):
    before = settings_of(run)
    assert (before["seed"], before["training"]["learning_rate"]) == (3, 1e-3)
    record = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**record, "finished": False}))
    (run / "results.json").unlink()
    made = train("--resume", run)
    assert made.exit_code == 0, made.output
    assert settings_of(run) == before
    assert (run / "results.json").is_file()


def test_epochs_are_added_and_nothing_else_may_change(run, toy, tmp_path):
    made = train("--resume", run, "--epochs", 2)
    assert made.exit_code == 0, made.output
    assert settings_of(run)["training"]["epochs"] == 2
    refused = error("--resume", run, "--seed", 4)
    assert isinstance(refused, CheckpointError)
    assert "seed: was 3, now 4" in str(refused)
    toy.rename(tmp_path / "moved")
    assert "no such" in str(error("--resume", run)).lower()
    assert train("--resume", run, "--data", tmp_path / "moved").exit_code == 0


@pytest.mark.parametrize("beside", [["--preset", "small"], ["--out", "elsewhere"], ["config.yaml"]])
def test_a_resumed_run_has_its_own_settings(run, beside):
    refused = error(*beside, "--resume", run)
    assert isinstance(refused, ConfigError)
    assert "Leave out" in str(refused)


def test_a_run_is_not_overwritten_and_the_way_on_is_named(run, toy):
    assert f"--resume {run}" in str(error("--data", toy, "--method", "un_rat", "--out", run))
