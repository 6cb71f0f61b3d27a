"""Describe the machine that numbers come from."""

from __future__ import annotations

import os
import platform
import resource
import sys
from pathlib import Path

VENDOR_FLAGS = ("avx2", "avx512f", "avx512_vnni", "avx_vnni", "amx_int8")


def describe_machine() -> dict[str, str]:
    """Return what decides speed: processor, cores, threads, versions, and how busy the machine is."""
    import torch
    import transformers

    model, flags = _read_processor()
    return {
        "processor": model,
        "instructions": ", ".join(flag for flag in VENDOR_FLAGS if flag in flags) or "unknown",
        "cores": str(os.cpu_count()),
        "threads": str(torch.get_num_threads()),
        "load at the start": f"{os.getloadavg()[0]:.1f}",
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "versions": f"torch {torch.__version__}, transformers {transformers.__version__}",
    }


def _read_processor() -> tuple[str, set[str]]:
    path = Path("/proc/cpuinfo")
    if not path.is_file():
        return platform.processor() or "unknown", set()
    lines = [line.partition(":") for line in path.read_text(encoding="utf-8").splitlines()]
    facts = {name.strip(): value.strip() for name, _, value in lines}
    return facts.get("model name", "unknown"), set(facts.get("flags", "").split())


def peak_megabytes() -> float:
    """Return the most memory that this process has had so far."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20
