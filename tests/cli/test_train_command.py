"""`rationalize train`: where settings come from, and which win."""

from __future__ import annotations

import json

import pytest
import yaml
from typer.testing import CliRunner

from helpers import tiny_corpus
from rationalize.cli.main import app
from rationalize.data.jsonl import to_row
from rationalize.errors import ConfigError


def train(*args):
    return CliRunner().invoke(app, ["train", *map(str, args)])


@pytest.fixture
def toy(tmp_path):
    """A toy with a name that the presets know."""
    folder = tmp_path / "evidence_inference"
    folder.mkdir()
    for split, n in (("train", 24), ("val", 8)):
        rows = [json.dumps(to_row(each)) + "\n" for each in tiny_corpus(n)]
        (folder / f"{split}.jsonl").write_text("".join(rows))
    return folder


def test_a_preset_lies_below_what_is_given_and_skips_what_the_method_lacks(toy, tmp_path):
    given = ["encoder.name=tiny", "encoder.hidden_size=16", "training.warm_start=1", "training.epoch_share=1"]
    sets = [part for each in given for part in ("--set", each)]
    made = train(
        "--data",
        toy,
        "--method",
        "un_rat",
        "--preset",
        "small",
        *sets,
        "--out",
        tmp_path / "run",
        "--quiet",
    )
    assert made.exit_code == 0, made.output
    used = yaml.safe_load((tmp_path / "run" / "config.resolved.yaml").read_text())
    assert (used["encoder"]["name"], used["encoder"]["max_tokens"]) == ("tiny", 256)
    assert (used["training"]["warm_start"], used["training"]["epochs"]) == (1, 2)
    assert (used["options"]["selection"]["masking"], used["options"]["selection"]["share"]) == (
        "attention",
        0.08,
    )
    assert (tmp_path / "run" / "artifacts" / "warm_start" / "model").is_dir()


@pytest.mark.parametrize(
    ("extra", "says"),
    [
        (["--preset", "huge"], "preset 'huge' is unknown. Known: paper, planted, small"),
        (["CONFIG", "--preset", "small"], "Give one"),
    ],
)
def test_a_wrong_preset_is_refused_before_anything_is_written(toy, tmp_path, extra, says):
    config = tmp_path / "config.yaml"
    config.write_text("method: un_rat\n")
    args = [str(config) if part == "CONFIG" else part for part in extra]
    refused = train(*args, "--data", toy, "--out", tmp_path / "run")
    assert isinstance(refused.exception, ConfigError)
    assert says in str(refused.exception)
    assert not (tmp_path / "run").exists()
