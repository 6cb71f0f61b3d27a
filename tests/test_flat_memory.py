"""Memory stays flat over batches of many shapes."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

import pytest

from rationalize.flat_memory import KERNELS, bound_kernels, return_memory


def test_few_kernels_are_kept_unless_the_user_says_how_many(monkeypatch):
    monkeypatch.delenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", raising=False)
    bound_kernels()
    assert os.environ["ONEDNN_PRIMITIVE_CACHE_CAPACITY"] == str(KERNELS)
    monkeypatch.setenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "7")
    bound_kernels()
    assert os.environ["ONEDNN_PRIMITIVE_CACHE_CAPACITY"] == "7"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the memory of the process from /proc")
def test_gaps_in_the_heap_are_given_back():
    before = _read_resident_mb()
    kept = [
        (bytearray(60_000), bytearray(100)) for _ in range(2_000)
    ]  # small ones pin the heap between large ones
    last = [small for _, small in kept]
    del kept
    gc.collect()
    return_memory()
    assert _read_resident_mb() - before < 40
    assert len(last) == 2_000


def _read_resident_mb() -> float:
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE") / 2**20
