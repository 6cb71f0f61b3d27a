"""`rationalize studio`: refusals, export, and a real studio from start to SIGTERM."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from studio_helpers import KEY, PATIENCE, Browser, make_studio
from typer.testing import CliRunner

import rationalize
from helpers import tiny_corpus
from rationalize.cli.main import app
from rationalize.data.annotation import FORMATS
from rationalize.data.jsonl import read_jsonl, write_jsonl
from rationalize.errors import BusyError, RationalizeError
from rationalize.studio.studio_app import create_studio


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "reviews.jsonl"
    write_jsonl(path, tiny_corpus(10))
    return path


def refusal(*words):
    done = CliRunner().invoke(app, ["studio", *map(str, words)])
    assert isinstance(done.exception, RationalizeError), done.output
    return str(done.exception)


def test_it_needs_data_or_the_demo(data):
    assert "DATA or --demo" in refusal()
    assert "DATA or --demo" in refusal(data, "--demo")


def test_without_its_packages_it_says_what_to_install(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastapi", None)
    for name in [
        name for name in sys.modules if name.startswith(("rationalize.serving", "rationalize.studio"))
    ]:
        monkeypatch.delitem(sys.modules, name)
    assert "pip install 'rationalize[serve]'" in refusal(data)


def test_an_address_that_others_reach_needs_a_key(data, monkeypatch):
    monkeypatch.delenv("RATIONALIZE_API_KEY", raising=False)
    assert "api_key is not set" in refusal(data, "--host", "0.0.0.0")


def test_export_without_a_page(data, tmp_path):
    out, target = tmp_path / "studio", tmp_path / "annotated.jsonl"
    words = ["studio", str(data), "--out", str(out), "--export", str(target)]
    assert "no studio there" in refusal(*words[1:])
    studio = make_studio(out, tiny_corpus(10), models=())
    Browser(create_studio(studio, KEY)).save(2, [0, 1])
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert "1 annotated text" in done.output
    (example,) = read_jsonl(target)
    assert (example.id, len(example.rationale)) == ("r1", 1)
    for tool, name in (("label_studio", "tasks.json"), ("brat", "standoff")):
        again = [*words[:-1], str(tmp_path / name), "--to", tool]
        assert "1 annotated text" in CliRunner().invoke(app, again, catch_exceptions=False).output
        (same,) = FORMATS[tool].read(tmp_path / name).examples
        assert (same.id, same.label, same.rationale) == (example.id, example.label, example.rationale)
    assert "--to needs --export" in refusal(data, "--to", "doccano")
    studio.close()


def test_ids_must_differ(tmp_path):
    path = tmp_path / "twice.jsonl"
    path.write_text('{"id": "a", "text": "x", "label": "1"}\n' * 2)
    assert "twice" in refusal(path)


@pytest.mark.slow
def test_a_studio_from_start_to_end(data, tmp_path):
    command = [sys.executable, "-c", "from rationalize.cli.main import main; main()", "studio", str(data)]
    words = ["--out", str(tmp_path / "studio"), "--no-browser", "--port", "0"]
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(rationalize.__file__).parents[1]),
        "PYTHONUNBUFFERED": "1",
    }
    with subprocess.Popen([*command, *words], stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            address, _, key = process.stdout.readline().split()[1].partition("/?key=")
            with pytest.raises(BusyError, match=f"in use by process {process.pid}"):
                CliRunner().invoke(
                    app, ["studio", str(data), "--out", str(tmp_path / "studio")], catch_exceptions=False
                )
            request = urllib.request.Request(
                f"{address}/annotate/1/suggestion", headers={"Authorization": f"Bearer {key}"}
            )
            assert json.load(urllib.request.urlopen(request, timeout=PATIENCE)) == {"state": "none"}
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
