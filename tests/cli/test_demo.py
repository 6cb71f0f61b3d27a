"""The story in one command, made small."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from rationalize.cli import demo_story as demo
from rationalize.cli.main import app
from rationalize.files import read_json
from rationalize.training.loop import Trainer


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(demo, "QUICK", {"train": 32, "val": 8, "test": 8, "ood": 8})


def test_every_method_is_scored_in_and_out_of_distribution_and_shown(small, tmp_path, monkeypatch):
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
    monkeypatch.setattr(Trainer, "run", lambda *_, **__: pytest.fail("trained again"))
    again = demo.run_demo(folder, quick=True).results
    for name, found in again.items():
        assert {split: each.to_dict() for split, each in found.items()} == read_json(
            folder / name / "results.json"
        )
