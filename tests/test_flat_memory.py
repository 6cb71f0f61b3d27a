"""Memory stays flat over batches of many shapes."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from rationalize.flat_memory import KERNELS, bound_kernels, return_memory

# Vectors of other sizes all the time, a small one kept after each: without large pieces given back, the heap has gaps.
PROGRAM = """
import resource, sys
import numpy as np
from rationalize.flat_memory import return_memory
if sys.argv[1] == "flat":
    assert return_memory()
kept = []
for number in range(400):
    vectors = [np.ones(40_000 + 997 * ((number * 31 + i * 17) % 400)) for i in range(20)]
    kept.append(np.ones(2_000))
    del vectors
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def peak(mode):
    found = subprocess.run([sys.executable, "-c", PROGRAM, mode], capture_output=True, text=True, check=True)
    return int(found.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="the C library of Linux can be told")
def test_large_pieces_go_back_to_the_system():
    assert return_memory()
    assert peak("flat") <= peak("as it is")


def test_the_users_own_number_of_kernels_is_kept(monkeypatch):
    monkeypatch.delenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", raising=False)
    bound_kernels()
    assert os.environ["ONEDNN_PRIMITIVE_CACHE_CAPACITY"] == str(KERNELS)
    monkeypatch.setenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "7")
    bound_kernels()
    assert os.environ["ONEDNN_PRIMITIVE_CACHE_CAPACITY"] == "7"
