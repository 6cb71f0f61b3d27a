from __future__ import annotations

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from helpers import tiny_corpus, tiny_model
from rationalize.cli.main import app
from rationalize.data._eraser_writer import write_eraser
from rationalize.data.jsonl import write_jsonl
from rationalize.errors import ConfigError, DataError
from rationalize.runs.model_folder import save_model


def run(*arguments):
    return CliRunner().invoke(app, ["evaluate", *(str(each) for each in arguments)])


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for method in ("un_rat", "car"):
        save_model(folder / method, tiny_model(method), "")
    return folder


@pytest.fixture
def renamed(tmp_path):
    """Data as sentiment corpora have them: other labels, no rationales."""
    names = {"POS": "positive", "NEG": "negative"}
    plain = [
        replace(each, label=names[each.label], rationale=None, shortcuts=None) for each in tiny_corpus(8)
    ]
    write_jsonl(tmp_path / "test.jsonl", plain)
    return tmp_path


MAP = ("--label-map", "positive=POS", "--label-map", "negative=NEG")


def test_transfer_scores_the_task_and_leaves_out_what_needs_gold(models, renamed):
    result = run(models / "un_rat", "--data", renamed, *MAP, "--faithfulness", "drop", "--limit", 4)
    assert result.exit_code == 0
    assert "Task F1" in result.stdout
    assert "Comprehensiveness" in result.stdout
    for absent in ("Token F1", "IOU", "AUPRC", "Share gold"):
        assert absent not in result.stdout


def test_transfer_as_json(models, renamed):
    result = run(models / "un_rat", "--data", renamed, *MAP, "--json", "--limit", 4)
    row = json.loads(result.stdout)
    assert row["n_examples"] == 4
    assert row["confusion"].keys() == {"NEG", "POS"}
    assert row["metrics"]["token_f1_eraser"] is None
    assert row["label_map"] == {"positive": "POS", "negative": "NEG"}
    assert "faithfulness" not in row


def test_unknown_labels_are_refused_before_anything_is_explained(models, renamed, monkeypatch):
    monkeypatch.setattr(
        "rationalize.evaluation.recipe.evaluate_model", lambda *_, **__: pytest.fail("scoring has begun")
    )
    error = run(models / "un_rat", "--data", renamed).exception
    assert isinstance(error, DataError)
    assert "label_map={'negative': 'NEG', 'positive': 'POS'}" in str(error)
    assert isinstance(run(models / "un_rat", "--data", renamed, "--label-map", "x").exception, ConfigError)


def test_results_for_the_official_scorer(models, tmp_path):
    data, out = tmp_path / "data", tmp_path / "rows.jsonl"
    data.mkdir()
    write_eraser(data, {"test": tiny_corpus(6)})
    result = run(
        models / "un_rat", "--data", data, "--eraser-out", out, "--faithfulness", "mask", "--limit", 4
    )
    assert result.exit_code == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(rows) == 4
    assert all(len(row["thresholded_scores"]) == 5 for row in rows)
    assert {each["docid"] for row in rows for each in row["rationales"]} <= {
        path.name for path in (data / "docs").iterdir()
    }
    assert "Only a sample" in " ".join(result.stderr.split())


def test_results_that_cannot_be_written_in_the_datas_labels_are_refused(models, renamed):
    both = ("--label-map", "positive=POS", "--label-map", "negative=POS")
    error = run(models / "un_rat", "--data", renamed, *both, "--eraser-out", renamed / "o").exception
    assert isinstance(error, ConfigError)
    assert run(models / "un_rat", "--data", renamed, *both).exit_code == 0


def test_being_given_the_label_is_shown(models, renamed):
    arguments = (models / "car", "--data", renamed, *MAP, "--oracle-label")
    row = json.loads(run(*arguments, "--json").stdout)
    assert row["oracle_label"] is True
    assert row["method"] == "car"
    shown = " ".join(run(*arguments).stdout.split())
    assert "The selector was given the gold label" in shown
    assert "car (given the gold label) (test)" in shown


def test_a_method_that_cannot_be_given_the_label_says_so(models, renamed):
    error = run(models / "un_rat", "--data", renamed, *MAP, "--oracle-label").exception
    assert isinstance(error, ConfigError)
    assert "un_rat cannot be given the gold label" in str(error)


def test_a_page_shows_numbers_examples_and_the_command(models, renamed, tmp_path):
    page = tmp_path / "page.html"
    result = run(models / "un_rat", "--data", renamed, *MAP, "--report", page)
    assert result.exit_code == 0
    html = page.read_text()
    assert "Worst mistakes" in html
    assert "How it was made" in html
    assert html.count('class="card rationalize"') >= 8
    assert "http" not in html.replace("http-equiv", "")
