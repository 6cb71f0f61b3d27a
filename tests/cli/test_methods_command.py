from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from rationalize.cli.main import app
from rationalize.methods.registry import list_names, method_class


def run(*arguments):
    result = CliRunner().invoke(app, ["methods", *arguments], env={"COLUMNS": "80"})
    assert result.exit_code == 0, result.output
    return result.output


def test_the_list_fits_a_terminal():
    lines = run().splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 60
    assert not any("…" in line for line in lines), "something is cut off"
    listed = [line.split()[0] for line in lines if line and line.split()[0] in list_names()]
    assert sorted(listed) == list_names()
    needs = [method_class(name).about.supervision for name in listed]
    assert needs == sorted(needs, key=["none", "part", "full"].index)


def test_json_has_the_numbers():
    found = {each["name"]: each for each in json.loads(run("--json"))}
    assert found["unirex"]["passes"]["train"] == [
        {"phase": "supervised", "passes": 11, "selecting": 0, "pool": "all", "epochs": None}
    ]
    assert [each["passes"] for each in found["ssr_unif"]["passes"]["train"]] == [2, 2]
    assert found["car"]["passes"]["explain"] == 3


@pytest.mark.parametrize("name", ["ssr_unif", "reinforce"])
def test_one_is_shown_in_full(name):
    shown = run(name)
    words = " ".join(shown.split())
    assert max(map(len, shown.splitlines())) <= 80
    assert "Encoder passes 2 per" in words
    assert "options.selection.shared_encoder" in words, "names of settings are not broken"
    described = json.loads(run(name, "--json"))
    assert {"description", "settings", "passes"} <= described.keys()
