"""Memory stays flat over batches of many shapes."""

from __future__ import annotations

import gc
import os
import sys

import pytest

from rationalize import flat_memory
from rationalize.flat_memory import KERNELS, bound_kernels, measure_resident, return_memory


def test_few_kernels_are_kept_unless_the_user_says_how_many(monkeypatch):
    monkeypatch.delenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", raising=False)
    bound_kernels()
    assert os.environ["ONEDNN_PRIMITIVE_CACHE_CAPACITY"] == str(KERNELS)
    monkeypatch.setenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "7")
    bound_kernels()
    assert os.environ["ONEDNN_PRIMITIVE_CACHE_CAPACITY"] == "7"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the memory of the process from /proc")
def test_gaps_in_the_heap_are_given_back():
    before = measure_resident()
    kept = [
        (bytearray(60_000), bytearray(100)) for _ in range(2_000)
    ]  # small ones pin the heap between large ones
    last = [small for _, small in kept]
    del kept
    gc.collect()
    return_memory()
    assert measure_resident() - before < 40 * 2**20
    assert len(last) == 2_000


def test_a_process_may_grow_by_a_quarter_over_what_one_step_makes_it(monkeypatch):
    sizes = iter([1000, 1200, 1300, 1050, 1240, 2000, 2000, 2400])
    trimmed_at = []
    current = 0

    def measure() -> int:
        nonlocal current
        current = next(sizes)
        return current

    monkeypatch.setattr(flat_memory, "measure_resident", measure)
    monkeypatch.setattr(flat_memory, "return_memory", lambda: trimmed_at.append(current))
    watch = flat_memory.GrowthWatch()
    for _ in range(8):
        watch.look()
    # 1,240 is within a quarter of the 1,000 of a step without gaps; 2,000 twice is what a large step needs.
    assert trimmed_at == [1300, 2000]
