"""Keep the memory of a process flat over any number of batches, each of another shape.

Two things grow otherwise, slowly and for hours: oneDNN keeps a compiled kernel for each of the last 1,024 shapes, and
the C library keeps the gaps between vectors of varying size. Neither costs time to prevent: kernels are compiled in
less time than a batch is read, and large vectors are given back when they are done with.
"""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache

KERNELS = 64
"""Compiled kernels that are kept: those of a few batches."""
LARGE = 256 * 1024
"""Bytes from which on memory is the system's again as soon as it is free."""
M_MMAP_THRESHOLD = -3  # as <malloc.h> has it


def bound_kernels() -> None:
    """Let oneDNN keep few kernels, in this process and in those that it starts. Before torch multiplies anything."""
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", str(KERNELS))


@cache
def return_memory() -> bool:
    """Let the C library give large pieces of memory back at once; return whether it can (glibc)."""
    if sys.platform != "linux":
        return False
    try:
        return bool(ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, LARGE))
    except AttributeError:  # another C library
        return False
