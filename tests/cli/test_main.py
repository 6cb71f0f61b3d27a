"""What the command line adds to errors of the library: its own names for their fields."""

from __future__ import annotations

import errno
import os
import signal
import sys

import pytest

from helpers import tiny_corpus
from rationalize.cli.main import app, find_flags, main
from rationalize.data.jsonl import write_jsonl
from rationalize.errors import ConfigError, RationalizeError
from rationalize.interrupts import Interrupted
from rationalize.runs.model_folder import save_model


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
        "tune",
    }
    assert not {verb for verb, flag in found if flag in {"--html", "--page"}}


def run_main(monkeypatch, *words):
    """Run the command as a shell would; return its exit code."""
    monkeypatch.setattr(sys, "argv", ["rationalize", *map(str, words)])
    with pytest.raises(SystemExit) as stop:
        main()
    return stop.value.code or 0


@pytest.fixture
def places(tmp_path, model):
    """Paths that the system refuses, a model, and data."""
    save_model(tmp_path / "model", model, "")
    write_jsonl(tmp_path / "data.jsonl", tiny_corpus(8))
    (tmp_path / "file").write_text("a file, not a folder")
    return {
        "below_a_file": tmp_path / "file" / "x.jsonl",
        "folder": tmp_path,
        "too_long": tmp_path / ("n" * 300),
    }


REFUSED = [
    "explain MODEL --file DATA --quiet --out PLACE",
    "evaluate MODEL --data DATA --split data --quiet --out PLACE",
    "evaluate MODEL --data DATA --split data --quiet --predictions PLACE",
    "evaluate MODEL --data DATA --split data --quiet --report PLACE",
    "augment DATA --out PLACE",
    "data convert DATA PLACE --to jsonl",
    "data planted --out PLACE",
    "shortcuts audit DATA --report PLACE",
    "train --data DATA --out PLACE --set encoder.name=tiny",
    "train PLACE",
    "compare PLACE",
    "rate report PLACE",
]


@pytest.mark.parametrize(
    ("words", "place"),
    [
        *((words, "below_a_file") for words in REFUSED),
        *((REFUSED[0], place) for place in ("folder", "too_long")),
        *(
            pytest.param(words, place, marks=pytest.mark.slow)
            for words in REFUSED[1:]
            for place in ("folder", "too_long")
        ),
    ],
)
def test_what_the_disk_refuses_is_one_sentence_and_leaves_nothing(
    monkeypatch, capsys, places, tmp_path, words, place
):
    known = {"MODEL": tmp_path / "model", "DATA": tmp_path / "data.jsonl", "PLACE": places[place]}
    before = sorted(tmp_path.rglob("*"))
    code = run_main(monkeypatch, *(known.get(word, word) for word in words.split()))
    said = capsys.readouterr().err
    assert code == 2, said
    assert "\nerror: " in f"\n{said}", "after what was said of the settings"
    assert str(places[place]).removesuffix("/x.jsonl")[:250] in said
    assert "Traceback" not in said
    assert sorted(tmp_path.rglob("*")) == before


def test_a_full_disk_is_one_sentence_and_leaves_nothing(monkeypatch, capsys, places, tmp_path):
    def refuse(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("rationalize.files.sync", refuse)
    out = tmp_path / "out.jsonl"
    words = ("explain", tmp_path / "model", "--file", tmp_path / "data.jsonl", "--quiet", "--out", out)
    assert run_main(monkeypatch, *words) == 2
    assert capsys.readouterr().err.startswith(f"error: {out}: No space left on device.")
    assert not list(tmp_path.glob("*out.jsonl*"))


@pytest.mark.parametrize(
    ("stop", "code", "printed"),
    [
        (KeyboardInterrupt, 130, "interrupted\n"),
        (Interrupted("saved it", signal.SIGTERM), 143, "saved it\n"),
    ],
)
def test_an_interrupt_is_no_traceback(monkeypatch, capsys, stop, code, printed):
    def interrupt(*_, **__):
        raise stop

    monkeypatch.setattr("rationalize.comparison.plan.load_plan", interrupt)
    assert run_main(monkeypatch, "compare") == code
    assert capsys.readouterr().err.lstrip("\n") == printed
