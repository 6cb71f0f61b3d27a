"""Every command that reads data has the same options, and hands them on."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from rationalize.cli.data_options import PartialWordsChoice, ReadingFlags, Words
from rationalize.cli.main import app
from rationalize.data.read_options import Fields, ReadOptions
from rationalize.runs.settings import load_config

run = CliRunner().invoke


def test_what_was_not_given_has_its_default():
    assert ReadingFlags().to_options() == ReadOptions()
    assert ReadingFlags().to_settings() == {}


def test_flags_are_settings_of_a_run():
    flags = ReadingFlags(
        text_field="body",
        id_field="nr",
        words=Words.whitespace,
        partial_words=PartialWordsChoice.drop,
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
