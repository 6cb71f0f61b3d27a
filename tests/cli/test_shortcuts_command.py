"""`rationalize shortcuts discover`: what it leaves, and that it does not pass off what it found elsewhere."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from helpers import write_splits
from rationalize.cli.main import app
from rationalize.errors import CheckpointError
from rationalize.runs.model_folder import load_model

TINY = ["encoder.hidden_size=16", "encoder.layers=1", "encoder.heads=2", "shortcuts.min_run=1"]


@pytest.fixture
def discover(tmp_path):
    folder = write_splits(tmp_path / "toy", train=24, val=8)
    sets = [part for each in TINY for part in ("--set", each)]

    def run(*args):
        given = ["--data", folder, "--encoder", "tiny", "--epochs", 1, *sets, "--out", tmp_path / "found"]
        return CliRunner().invoke(app, ["shortcuts", "discover", *map(str, (*given, *args)), "--json"])

    return run


def test_found_shortcuts_and_their_finder_stay_and_serve_augmentation(discover, tmp_path):
    made = discover("--device", "cpu")
    assert made.exit_code == 0, made.output
    found = tmp_path / "found"
    assert json.loads(made.stdout) == json.loads((found / "shortcuts.json").read_text())
    assert load_model(found / "un_rat").config.method == "un_rat"
    assert not (found / "un_rat" / "checkpoints").exists()
    args = [
        found / "shortcuts.jsonl",
        "--kind",
        "semantic",
        "--model",
        found / "un_rat",
        "--out",
        tmp_path / "c",
    ]
    copied = CliRunner().invoke(app, ["augment", *map(str, args), "--device", "cpu"])
    assert copied.exit_code == 0, copied.output


def test_what_was_found_with_other_settings_or_data_is_not_shown_as_the_answer(discover):
    first = discover()
    assert discover().stdout == first.stdout
    refused = discover("--limit", 12).exception
    assert isinstance(refused, CheckpointError)
    assert "data.limit: was None, now 12" in str(refused)
