"""What launchers start: the package as a module, and only what works in several processes."""

from __future__ import annotations

import runpy
import sys

import pytest
from typer.testing import CliRunner

from rationalize.cli.main import app
from rationalize.errors import ConfigError
from rationalize.version import __version__


def test_the_package_is_a_command(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["rationalize", "--version"])
    with pytest.raises(SystemExit) as stop:
        runpy.run_module("rationalize", run_name="__main__")
    assert not stop.value.code
    assert capsys.readouterr().out.strip() == __version__


def test_a_verb_that_works_in_one_process_is_not_done_twice(monkeypatch):
    given = {"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "here", "MASTER_PORT": "1"}
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError, match="methods: a launcher started 2 processes"):
        CliRunner().invoke(app, ["methods"], catch_exceptions=False)
