"""Benchmarks reach into the code; they have to keep running."""

from __future__ import annotations

import pytest
from benchmarks import speed


@pytest.mark.slow
def test_the_speed_benchmark_runs_to_its_end(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["speed", "--rounds", "1"])
    speed.main()
    assert capsys.readouterr().out.count("x (") == 4
