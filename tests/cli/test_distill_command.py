"""`rationalize distill`: where the copy goes, what is shown, and what is refused."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from helpers import tiny_model, write_splits
from rationalize.cli.main import app
from rationalize.errors import ConfigError
from rationalize.runs.model_folder import save_model


@pytest.fixture(autouse=True)
def here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    save_model(tmp_path / "model", tiny_model("semi_rat", encoder={"layers": 2}), "")
    write_splits(tmp_path / "data", train=24, dev=8)
    return tmp_path


def run(*words):
    given = ["distill", "model", "--data", "data", "--layers", "1", "--epochs", "1", "--device", "cpu"]
    result = CliRunner().invoke(app, [*given, *map(str, words)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_copy_is_beside_the_model_and_shown_beside_it(here):
    printed = run()
    assert "its teacher" in printed
    assert "Model: model-1-layers/model" in printed
    explained = CliRunner().invoke(app, ["explain", "model-1-layers", "a joy to watch", "--json"])
    assert json.loads(explained.output)["label"] in ("NEG", "POS")
    with pytest.raises(ConfigError, match="model-1-layers: already has a run"):
        run()


def test_as_json(here):
    found = json.loads(run("--out", "copy", "--json"))
    assert found["dev"]["n_examples"] == found["teacher"]["n_examples"] == 8
