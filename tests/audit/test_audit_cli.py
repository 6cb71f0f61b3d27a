from __future__ import annotations

import json

import pytest
import typer
from audit_texts import planted
from typer.testing import CliRunner

from rationalize.cli.shortcuts_audit import audit
from rationalize.data.jsonl import write_jsonl
from rationalize.errors import ConfigError, DataError

app = typer.Typer()
app.command()(audit)


def run(*arguments):
    return CliRunner().invoke(app, [str(each) for each in arguments])


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "train.jsonl"
    write_jsonl(path, planted(100, pos="it ran on many screens ."))
    return path


def test_finding_shortcuts_is_no_error(data, tmp_path):
    page = tmp_path / "audit.html"
    result = run(data, "--no-semantic", "--report", page, "--sample", 10)
    assert result.exit_code == 0
    assert "it ran on many screens" in result.stdout
    assert "1 fixed phrase correlates with a label, in 50 of 100 documents." in " ".join(
        result.stdout.split()
    )
    assert "it ran on many screens" in page.read_text(encoding="utf-8")


def test_json_holds_everything(data):
    row = json.loads(run(data, "--no-semantic", "--json", "--min-words", 4, "--max-words", 5).stdout)
    (phrase,) = row["suspected"]
    assert (phrase["pattern"], phrase["label"], phrase["documents"]) == ("it ran on many screens", "POS", 50)
    assert row["config"]["max_words"] == 5
    assert len(row["spans"]) == 50
    assert row["effects"][0]["replaced"] == "suspected phrases, by random words"


def test_mistakes_are_reported(data):
    assert isinstance(run(data, "--split", "test").exception, DataError)
    assert isinstance(run(data, "--min-cohesion", 2).exception, ConfigError)
    assert isinstance(run(data, "--queries").exception, DataError)
