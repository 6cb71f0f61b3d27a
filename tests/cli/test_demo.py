"""The story in one command, made small."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from typer.testing import CliRunner

from helpers import Listener
from rationalize.cli import demo_story as demo
from rationalize.cli.main import app


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(demo, "QUICK", {"train": 60, "val": 10, "test": 10, "ood": 10})


def test_every_method_is_scored_in_and_out_of_distribution_and_shown(small, tmp_path):
    folder = tmp_path / "demo"
    result = CliRunner().invoke(app, ["demo", "--quick", "--out", str(folder)])
    assert result.exit_code == 0, result.output
    for name in ("un_rat", "semi_rat", "ssr_unif+DA", "ssr_virt+DA"):
        assert (folder / name / "results.json").is_file()
        assert name in result.output
    assert {path.name for path in (folder / "artifacts").iterdir()} >= {
        "un_rat",
        "shortcuts.jsonl",
        "augmented-semantic-0.25.jsonl",
    }
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "who falls for the shortcut" in page
    assert page.count('class="card rationalize"') == 4 * demo.SHOWN


def test_a_second_telling_trains_nothing(small, tmp_path):
    heard: list[Listener] = []

    @contextmanager
    def display():
        heard.append(Listener())
        yield heard[-1]

    first = demo.run_demo(tmp_path / "demo", display, quick=True)
    assert any(listener.steps for listener in heard)
    heard.clear()
    again = demo.run_demo(tmp_path / "demo", display, quick=True)
    assert again.results == first.results
    assert not any(listener.steps for listener in heard)
