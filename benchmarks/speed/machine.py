"""Describe the machine that numbers come from."""

from __future__ import annotations

import os
import platform
import resource
import sys
from pathlib import Path

VENDOR_FLAGS = ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "avx_vnni", "amx_int8", "amx_bf16")
CLEAR, STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")


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


def forget_peak() -> None:
    """Let the peak begin with the memory that this process has now, where the kernel can."""
    if CLEAR.is_file():
        CLEAR.write_text("5", encoding="ascii")


def peak_megabytes() -> float:
    """Return the most memory that this process has had since its start, or since the peak was forgotten."""
    lines = STATUS.read_text(encoding="utf-8").splitlines() if STATUS.is_file() else []
    found = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
    if found:
        return int(found[0]) / 1024
    # Elsewhere it may begin with what the parent had.
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20
