"""What is written after `--set`, and flags that several verbs have."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from rationalize.cli.flags import collect_settings, parse_settings
from rationalize.cli.main import app
from rationalize.errors import ConfigError


@pytest.mark.parametrize("text", ["1e-4", "1E-4", "1.0e-4", "0.0001"])
def test_a_small_number_is_a_number(text):
    assert parse_settings([f"a={text}"]) == {"a": 1e-4}


@pytest.mark.parametrize("name", ["nan", "inf", "infinity", "1_000x", "true love"])
def test_names_that_python_could_read_as_numbers_stay_names(name):
    assert parse_settings([f"data.path={name}"]) == {"data.path": name}


def test_the_last_of_two_counts_and_wins_over_a_flag():
    assert parse_settings(["a=2", "a=null", "b.c=[1, x]"]) == {"a": None, "b.c": [1, "x"]}
    assert collect_settings({"a": 1, "b": None, "c": 0}, ["a=2"]) == {"a": 2, "c": 0}
    assert collect_settings({"a": 1}, None) == {"a": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("training.epochs", "expected NAME=VALUE"),
        ("=3", "expected NAME=VALUE"),
        ("seed=[1", "not valid YAML"),
    ],
)
def test_what_is_malformed_is_quoted(text, message):
    with pytest.raises(ConfigError, match=message) as error:
        parse_settings([text])
    assert f"--set {text}" in str(error.value)


@pytest.mark.parametrize(
    "verb",
    [
        ["train"],
        ["evaluate"],
        ["explain"],
        ["compare"],
        ["shortcuts", "discover"],
        ["shortcuts", "audit"],
        ["augment"],
    ],
)
def test_every_verb_that_computes_has_a_device(verb):
    said = CliRunner().invoke(app, [*verb, "--help"], env={"COLUMNS": "200", "NO_COLOR": "1"})
    assert "--device" in said.output
