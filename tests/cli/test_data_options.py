"""Every command that reads data has the same options, and hands them on."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from helpers import tiny_model
from rationalize.cli.data_options import ReadingFlags
from rationalize.cli.main import app
from rationalize.data.read_options import Fields, ReadOptions
from rationalize.ratings.study import open_study
from rationalize.runs.model_folder import save_model
from rationalize.runs.settings import load_config

run = CliRunner().invoke


def test_what_was_not_given_has_its_default():
    assert ReadingFlags().to_options() == ReadOptions()
    assert ReadingFlags().to_settings() == {}


def test_flags_are_settings_of_a_run():
    flags = ReadingFlags(
        text_field="body",
        id_field="nr",
        words="whitespace",
        partial_words="drop",
        drop_unlabeled=True,
    )
    options = ReadOptions(Fields(text="body", id="nr"), "whitespace", "drop", drop_unlabeled=True)
    assert flags.to_options() == options
    config = load_config(settings=flags.to_settings())
    assert ReadOptions.from_config(config.data) == options


@pytest.fixture
def posts(tmp_path):
    rows = [
        {"body": f"is amusing {i}, so", "stance": "AB"[i % 2], "nr": i, "marks": [[1, 10]], "about": "q"}
        for i in range(20)
    ]
    path = tmp_path / "posts.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in [*rows, {"body": "none"}]))
    return path


FIELDS = [
    "--text-field=body",
    "--label-field=stance",
    "--id-field=nr",
    "--query-field=about",
    "--rationale-field=marks",
]


def test_they_reach_the_reader(posts):
    table = ["data", "stats", str(posts), *FIELDS, "--json"]
    figures = json.loads(run(app, [*table, "--drop-unlabeled"]).stdout)["splits"]["posts"]
    assert (figures["rows"], figures["queries"], figures["annotated"]) == (20, 20, 20)
    assert (figures["words_median"], figures["span_words_mean"]) == (5, 2)
    shrunk = json.loads(run(app, [*table, "--partial-words", "shrink"]).stdout)["splits"]["posts"]
    assert (shrunk["rows"], shrunk["span_words_mean"]) == (21, 1)
    coarse = json.loads(run(app, [*table, "--words", "whitespace"]).stdout)
    assert (coarse["words"], coarse["splits"]["posts"]["words_median"]) == ("whitespace", 4)


def test_an_error_names_the_flag_that_would_help(posts):
    result = run(app, ["data", "check", str(posts), *FIELDS])
    assert result.exit_code == 2
    assert "data.drop_unlabeled is --drop-unlabeled" in result.output
    assert run(app, ["data", "check", str(posts), *FIELDS, "--drop-unlabeled"]).exit_code == 0


def test_they_reach_the_augmentation(posts, tmp_path):
    rows = [json.loads(line) for line in posts.read_text().splitlines()]
    marked = [{**row, "shortcuts": [[len(row["body"]) - 2, len(row["body"])]]} for row in rows]
    posts.write_text("".join(json.dumps(row) + "\n" for row in marked))
    copies = tmp_path / "copies.jsonl"
    made = run(app, ["augment", str(posts), *FIELDS, "--drop-unlabeled", "--out", str(copies), "--show", "0"])
    assert made.exit_code == 0, made.output
    written = [json.loads(line) for line in copies.read_text().splitlines()]
    assert (len(written), {row["label"] for row in written}) == (20, {"A", "B"})
    assert all(row["text"].startswith("is amusing") and row["rationale"] == [[1, 10]] for row in written)


def test_examples_without_shortcuts_are_not_augmented(posts, tmp_path):
    refused = run(app, ["augment", str(posts), *FIELDS, "--out", str(tmp_path / "copies.jsonl")]).exception
    assert "no example has shortcuts" in str(refused)
    assert not (tmp_path / "copies.jsonl").exists()


def test_they_reach_a_rating_study(posts, tmp_path):
    folder = tmp_path / "model"
    save_model(folder, tiny_model(), "card")
    study = ["rate", "prepare", "--model", f"tiny={folder}", "--data", str(posts), "--split", "posts"]
    made = run(app, [*study, *FIELDS, "--drop-unlabeled", "--out", str(tmp_path / "study"), "--samples", "4"])
    assert made.exit_code == 0, made.output
    assert all("amusing" in item.text for item in open_study(tmp_path / "study").items)
    refused = run(app, [*study, *FIELDS, "--out", str(tmp_path / "other"), "--device", "cuda:99"]).exception
    assert "'cuda:99' is not available" in str(refused)
    assert not (tmp_path / "other").exists()
