"""The benchmark of the service has to keep running."""

from __future__ import annotations

import pytest
from benchmarks import serve


@pytest.mark.slow
def test_the_benchmark_runs_to_its_end(monkeypatch, capsys):
    monkeypatch.setattr(
        "sys.argv", ["serve", "--encoder", "tiny", "--callers", "1", "2", "--seconds", "0.2", "--rounds", "1"]
    )
    serve.main()
    shown = capsys.readouterr().out
    for name in (
        "direct, one at a time   ",
        "direct, 2 together   ",
        "service, 1 caller ",
        "service, 2 callers",
    ):
        assert shown.count(name) == 1
