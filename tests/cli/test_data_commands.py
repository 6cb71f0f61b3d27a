from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from imports import list_imported
from rationalize.cli.main import app, find_flags
from rationalize.data.source import load
from rationalize.errors import ConfigError, DataError

run = CliRunner().invoke
GOOD = '{"text": "a [bold]good[/bold] film", "label": "A", "rationale": [[8, 12]]}\n'
BAD = '{"text": "bad", "label": "B"}\n'
POSTS = "body;stance;nr\n" + "".join(f"post {i};{'for' if i % 2 else 'against'};p{i}\n" for i in range(20))
NAMED = ["--text-field", "body", "--label-field", "stance", "--id-field", "nr"]


@pytest.fixture
def folder(tmp_path):
    for split in ("train", "val", "test"):
        (tmp_path / f"{split}.jsonl").write_text((GOOD + BAD).replace('", "label', f' {split}", "label'))
    return tmp_path


def test_check_of_good_data(folder):
    result = run(app, ["data", "check", str(folder)])
    assert (result.exit_code, "errors: 0, warnings: 0. Ready" in result.output) == (0, True)


def test_check_of_bad_data_shows_what_was_seen_unchanged(folder):
    (folder / "test.jsonl").write_text('{"text": {"a": "[red]not text[/red]"}}\n')
    result = run(app, ["data", "check", str(folder)])
    assert result.exit_code == 2
    assert "test.jsonl:1" in result.output
    assert "[red]not text[/red]" in result.output


def test_warnings_alone_are_no_failure(folder):
    (folder / "test.jsonl").unlink()
    result = run(app, ["data", "check", str(folder), "--json"])
    assert (result.exit_code, json.loads(result.stdout)["warnings"]) == (0, 1)


def test_check_of_what_cannot_be_trained_on(folder):
    for split in ("train", "val"):
        (folder / f"{split}.jsonl").unlink()
    result = run(app, ["data", "check", str(folder)])
    assert (result.exit_code, "not to train on" in result.output) == (0, True)


def test_check_as_json(folder):
    (folder / "test.jsonl").write_text("{\n")
    result = run(app, ["data", "check", str(folder), "--json"])
    report = json.loads(result.stdout)
    assert (result.exit_code, report["ok"], report["splits"]["test"]["rejected"]) == (2, False, 1)
    assert report["problems"][0]["severity"] == "error"


def test_a_limit_needs_an_encoder(folder):
    result = run(app, ["data", "check", str(folder), "--max-tokens", "9"])
    assert isinstance(result.exception, ConfigError)


def test_check_counts_gold_that_the_encoder_cuts_off(folder, monkeypatch):
    from rationalize.models import tokenizer

    def pieces(text, **options):
        return {"offset_mapping": [(index, index + 1) for index in range(len(text))]}

    monkeypatch.setattr(tokenizer, "load_tokenizer", lambda name: pieces)
    options = ["--encoder", "any", "--max-tokens", "8", "--json"]
    report = json.loads(run(app, ["data", "check", str(folder), *options]).stdout)
    assert report["splits"]["train"]["truncation"] == {
        "max_tokens": 8,
        "rows_cut": 2,
        "gold_words": 1,
        "gold_words_lost": 1,
        "rows_without_gold_left": 1,
    }


def test_stats(folder):
    table = run(app, ["data", "stats", str(folder)])
    assert table.exit_code == 0
    assert "A 1, B 1" in table.output
    figures = json.loads(run(app, ["data", "stats", str(folder), "--json"]).stdout)
    assert figures["splits"]["train"]["rows"] == 2
    assert figures["shared_documents"] == {"train/dev": 0, "train/test": 0, "dev/test": 0}


def test_convert(folder, tmp_path):
    out = tmp_path / "out" / "eraser"
    command = ["data", "convert", str(folder), str(out), "--to"]
    done = json.loads(run(app, [*command, "eraser", "--json"]).stdout)
    assert done["rows"] == {"train": 2, "dev": 2, "test": 2}
    assert load(out).splits["train"][1] == load(folder).splits["train"][1]
    refused = run(app, [*command, "jsonl"]).exception
    assert isinstance(refused, ConfigError)
    assert find_flags(refused, ["data", "convert"]) == ["--force"]
    assert run(app, [*command, "jsonl", "--force"]).exit_code == 0
    table = ["data", "convert", str(folder), str(tmp_path / "out" / "csv"), "--to", "csv"]
    assert run(app, table).exit_code == 0
    assert load(tmp_path / "out" / "csv").splits == load(folder).splits


def test_split_makes_a_lone_file_a_data_set(tmp_path):
    (tmp_path / "posts.csv").write_text(POSTS)
    command = ["data", "split", str(tmp_path / "posts.csv"), str(tmp_path / "out"), *NAMED, "--json"]
    done = json.loads(run(app, command).stdout)
    assert done["rows"] == {"train": 14, "dev": 4, "test": 2}
    assert {example.id for split in load(tmp_path / "out").values() for example in split} == {
        f"p{i}" for i in range(20)
    }
    again = run(app, ["data", "split", str(tmp_path / "out"), str(tmp_path / "more")])
    assert "saw the splits train, dev, test" in str(again.exception)


def test_a_lone_file_is_checked_as_it_will_be_trained_on(tmp_path):
    (tmp_path / "posts.csv").write_text(POSTS)
    result = run(app, ["data", "check", str(tmp_path / "posts.csv"), *NAMED])
    assert result.exit_code == 0
    assert "train 14, dev 4, test 2" in result.output
    assert "Ready to train on, by methods that need no gold rationales" in result.output


def test_other_field_names(tmp_path):
    (tmp_path / "reviews.csv").write_text("review,stars\nfine,5\nbad,1\n")
    options = ["--text-field", "review", "--label-field", "stars", "--json"]
    figures = json.loads(run(app, ["data", "stats", str(tmp_path / "reviews.csv"), *options]).stdout)
    assert figures["splits"]["reviews"]["labels"] == {"1": 1, "5": 1}
    refused = run(app, ["data", "stats", str(tmp_path / "reviews.csv")]).exception
    assert isinstance(refused, DataError)
    assert find_flags(refused, ["data", "stats"]) == ["--text-field"]


@pytest.mark.parametrize("command", ["check", "stats", "convert", "split"])
def test_help_has_an_example(command):
    assert f"Example: rationalize data {command}" in run(app, ["data", command, "--help"]).output


def test_nothing_heavy_is_imported():
    code = "import rationalize.cli.main, rationalize.data.validate, rationalize.cli.data_tables"
    assert list_imported(code, "torch", "transformers", "sklearn", "numpy") == []
