"""The story in one command, made small."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from rationalize.cli import demo_story as demo
from rationalize.cli.main import app
from rationalize.training.loop import Trainer


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
    made = {path.name.partition("-")[0] for path in (folder / "artifacts").iterdir() if path.is_dir()}
    assert made == {"un_rat", "shortcuts"}
    assert len([path for path in (folder / "artifacts").iterdir() if path.is_dir()]) == 2, "they are shared"
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "who falls for the shortcut" in page
    assert page.count('class="card rationalize"') == 4 * demo.SHOWN


def test_a_second_start_trains_nothing(small, tmp_path, monkeypatch):
    first = demo.run_demo(tmp_path / "demo", quick=True)
    monkeypatch.setattr(Trainer, "run", lambda *_, **__: pytest.fail("trained again"))
    assert demo.run_demo(tmp_path / "demo", quick=True).results == first.results
