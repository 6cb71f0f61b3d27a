"""What the command line adds to errors of the library: its own names for their fields."""

from __future__ import annotations

import sys

import pytest

from rationalize.cli.main import app, find_flags, main
from rationalize.errors import ConfigError, RationalizeError


@pytest.mark.parametrize(
    ("words", "fields", "flags"),
    [
        (
            ["evaluate", "m", "--data", "d"],
            ("label_map", "eraser_out"),
            ["--label-map DATA=MODEL", "--eraser-out"],
        ),
        (["compare", "plan.yaml"], ("redo", "out"), ["--redo", "--out"]),
        (["compare"], ("methods", "data"), ["--method", "--data NAME[=PATH]"]),
        (["train"], ("data.path", "data.gold_share"), ["--data", "--gold-share"]),
        (["train"], ("training.patience",), ["--set training.patience=VALUE"]),
        (["evaluate", "train"], ("training.patience",), []),
        (["compare"], ("transfer.sst2.labels", "label_map"), []),
        (["rate", "llm", "study"], ("base_url",), ["--base-url"]),
        (["shortcuts", "audit"], ("report",), ["--report"]),
        ([], ("out",), []),
    ],
)
def test_fields_are_called_as_the_verb_calls_them(words, fields, flags):
    assert find_flags(RationalizeError("wrong", field=fields), words) == flags


@pytest.mark.parametrize(
    ("field", "printed"),
    [("out", "error: exists (on the command line: --out)\n"), ((), "error: exists\n")],
)
def test_a_mistake_is_printed_with_its_flag_and_exit_code_2(monkeypatch, capsys, field, printed):
    def refuse(*_, **__):
        raise ConfigError("exists", field=field)

    monkeypatch.setattr(sys, "argv", ["rationalize", "compare"])
    monkeypatch.setattr("rationalize.comparison.plan.load_plan", refuse)
    with pytest.raises(SystemExit) as stop:
        main()
    assert (stop.value.code, capsys.readouterr().err) == (2, printed)


def test_pages_have_one_name_in_all_verbs():
    import typer

    def options(command, words=()):
        for name, each in getattr(command, "commands", {}).items():
            yield from options(each, (*words, name))
        yield from ((" ".join(words), flag) for each in command.params for flag in each.opts)

    found = {(verb, flag) for verb, flag in options(typer.main.get_command(app))}
    assert {verb for verb, flag in found if flag == "--report"} == {
        "evaluate",
        "rate report",
        "shortcuts audit",
    }
    assert not {verb for verb, flag in found if flag in {"--html", "--page"}}
