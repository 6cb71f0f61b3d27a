"""The search for bytes that a reader neither reads nor refuses, guided by coverage."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("atheris"), reason="atheris is not installed")
def test_twenty_thousand_runs_guided_by_coverage():
    command = [sys.executable, str(Path(__file__).with_name("reader_fuzzer.py")), "20000"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600, check=False)
    print(*[line for line in done.stdout.splitlines() if "attempted" in line])
    assert "failed 0" in done.stdout, done.stdout[-2000:] + done.stderr[-4000:]
