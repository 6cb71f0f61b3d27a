"""`rationalize export`: where it writes, what it prints, and what it does not replace."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from helpers import tiny_model
from rationalize.cli.main import app
from rationalize.errors import ConfigError
from rationalize.runs.model_folder import save_model

pytest.importorskip("onnx", reason="needs the extra onnx")
pytest.importorskip("onnxruntime", reason="needs the extra onnx")


@pytest.fixture(autouse=True)
def here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    save_model(tmp_path / "runs/movies", tiny_model("un_rat"), "")
    return tmp_path


def run(*words):
    result = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_the_export_is_beside_the_model_and_explains(here):
    printed = run("export", "runs/movies", "--to", "onnx")
    assert "exported: runs/movies-onnx (0.1 MB; vectors within" in printed
    first, second = (
        json.loads(run("explain", folder, "a truly gripping story", "--json"))
        for folder in ("runs/movies", "runs/movies-onnx")
    )
    assert first["rationale"] == second["rationale"]


def test_int8_has_another_name_and_is_described_as_json(here):
    done = json.loads(run("export", "runs/movies", "--int8", "--json"))
    assert done["folder"] == "runs/movies-onnx-int8"
    assert done["difference"] > 0
    assert json.loads((here / "runs/movies-onnx-int8/config.json").read_text())["export"]["int8"] is True


def test_a_folder_is_replaced_only_on_request(here):
    run("export", "runs/movies", "--out", "out")
    before = (here / "out/config.json").stat().st_ino
    with pytest.raises(ConfigError, match="out: exists already"):
        run("export", "runs/movies", "--out", "out")
    run("export", "runs/movies", "--out", "out", "--int8", "--force")
    assert (here / "out/config.json").stat().st_ino != before


def test_an_unknown_format_is_refused():
    result = CliRunner().invoke(app, ["export", "runs/movies", "--to", "coreml"])
    assert result.exit_code == 2
    assert "onnx" in result.output
