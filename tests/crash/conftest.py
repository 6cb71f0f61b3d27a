"""The warm process that all of it is done in."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from bench import Bench


@pytest.fixture(scope="session")
def bench():
    if not hasattr(os, "fork"):
        pytest.skip("needs fork and SIGKILL")
    memory = Path("/dev/shm")  # what a disk does to performance is not the question
    place = tempfile.mkdtemp(dir=memory if memory.is_dir() else None)
    made = Bench(Path(place))
    yield made
    made.warm.close()
    shutil.rmtree(place, ignore_errors=True)
