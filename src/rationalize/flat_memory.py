"""Keep the memory of a process flat over any number of batches, each of another shape."""

from __future__ import annotations

import os

KERNELS = 64
"""Compiled kernels that oneDNN keeps: those of a few batches. By itself it keeps one for each of the last 1,024 shapes,
which grows for hours; compiling them anew takes less time than can be measured beside reading a batch."""


def bound_kernels() -> None:
    """Let oneDNN keep few kernels, in this process and in those that it starts. Before torch multiplies anything."""
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", str(KERNELS))
