"""Texts that are not UTF-8, wherever they are given: a clear error, or replaced."""

from __future__ import annotations

import io
import json
import os
import sys

import pytest
from typer.testing import CliRunner

from helpers import tiny_model
from rationalize.cli.given_text import clean_argument, read_standard_input
from rationalize.cli.main import app, find_flags
from rationalize.errors import DataError
from rationalize.rationalizer import Rationalizer
from rationalize.runs.model_folder import save_model

BROKEN = b"fine \xff\xfe film"


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "model"
    save_model(folder, tiny_model(), "")
    return folder


@pytest.mark.parametrize("text", [os.fsdecode(BROKEN), "fine \ud800 film"])
def test_arguments(text):
    with pytest.raises(DataError, match="TEXT: not UTF-8") as error:
        clean_argument(text, "TEXT", "strict")
    assert find_flags(error.value, ["explain"]) == ["--errors"]
    clean_argument(text, "TEXT", "replace").encode()
    assert clean_argument("fein é", "TEXT", "strict") == "fein é"
    assert clean_argument(None, "TEXT", "strict") is None


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(BROKEN)))
    with pytest.raises(DataError, match="standard input: not UTF-8 at byte 5"):
        read_standard_input("strict")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(BROKEN)))
    assert read_standard_input("replace") == "fine �� film"


def test_lines_of_a_file(saved, tmp_path):
    (tmp_path / "a.txt").write_bytes(BROKEN)
    words = ["explain", str(saved), "--file", str(tmp_path / "a.txt"), "--quiet"]
    refused = CliRunner().invoke(app, words)
    assert isinstance(refused.exception, DataError)
    assert "not UTF-8" in str(refused.exception)
    assert (
        json.loads(CliRunner().invoke(app, [*words, "--errors", "replace"]).stdout)["text"] == "fine �� film"
    )


@pytest.mark.parametrize(
    "call", [{"texts": "a \ud800"}, {"texts": ["a", "b \udcff"]}, {"texts": "a", "queries": "\ud800"}]
)
def test_in_python(saved, call):
    model = Rationalizer.from_pretrained(saved)
    for ask in (model.explain, model.predict):
        with pytest.raises(
            DataError, match=r"(texts|queries)\[[01]\]: half a surrogate pair at character \d"
        ):
            ask(**call)


@pytest.mark.parametrize(
    ("flag", "cell"), [("--guard-formulas", "'=1+1 film"), ("--no-guard-formulas", "=1+1 film")]
)
def test_formulas_in_a_table(saved, tmp_path, flag, cell):
    (tmp_path / "a.txt").write_text("=1+1 film\n")
    words = [
        "explain",
        str(saved),
        "--file",
        str(tmp_path / "a.txt"),
        "--quiet",
        "--out",
        str(tmp_path / "a.csv"),
    ]
    assert CliRunner().invoke(app, [*words, flag]).exit_code == 0
    assert (tmp_path / "a.csv").read_text().splitlines()[1].endswith(f",{cell}")
