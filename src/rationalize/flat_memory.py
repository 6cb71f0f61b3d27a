"""Keep the memory of a process flat over any number of batches, each of another shape."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

KERNELS = 64
"""Compiled kernels that oneDNN keeps: those of a few batches. By itself it keeps one for each of the last 1,024 shapes,
which grows for hours; compiling them anew takes less time than can be measured beside reading a batch."""

GROWTH = 1.25
"""How much larger a process may become than one step makes it."""
_PAGES = Path("/proc/self/statm")


def bound_kernels() -> None:
    """Let oneDNN keep few kernels, in this process and in those that it starts. Before torch multiplies anything."""
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", str(KERNELS))


def return_memory() -> None:
    """Give the gaps in the C library's heap back to the system, where it can: between parts of a long work.

    Vectors of varying size leave gaps that the next ones do not quite fill, so the heap grows slowly, part by part.
    """
    trim = _find_trim()
    if trim is not None:
        trim(0)


class GrowthWatch:
    """Lets a process that makes many steps be little larger than one step makes it."""

    def __init__(self) -> None:
        self._allowed = 0.0
        self._fresh = True

    def look(self) -> None:
        """Give gaps back if the process has grown; to be called after each step, since to look takes microseconds."""
        resident = measure_resident()
        if self._fresh:  # it has no gaps but those of one step
            self._allowed = max(self._allowed, GROWTH * resident)
        self._fresh = resident > self._allowed
        if self._fresh:
            return_memory()


def measure_resident() -> int:
    """Return the bytes of this process that are in memory; 0 where the system does not say."""
    try:
        pages = _PAGES.read_text(encoding="ascii").split()[1]
    except OSError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


@cache
def _find_trim() -> Callable[[int], int] | None:
    """Return glibc's `malloc_trim`; other C libraries have none, and need none."""
    if not sys.platform.startswith("linux"):
        return None
    trim: Callable[[int], int] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return trim
