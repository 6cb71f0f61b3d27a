"""Measure an action in a process of its own: time, and the most memory of it and of the processes that it starts."""

from __future__ import annotations

import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from benchmarks.speed.answer import Row
from benchmarks.speed.growth import fit_exponent

Action = Callable[[], "dict[str, float] | None"]
Prepare = Callable[[Path, int], Action]
"""Prepares an action on the files of a folder, of a size. The action may return numbers of its own."""
Make = Callable[[Path, int], object]
"""Makes these files."""

COLUMNS = {
    "size": "size",
    "wall_s": "wall s",
    "cpu_s": "processor s",
    "peak_mb": "peak MB",
    "worker_mb": "peak MB of a worker",
    "disk_mb": "MB on disk",
    "recall": "recall",
    "memory_ratio": "memory, times the smallest's",
    "exponent": "exponent of time",
}


@dataclass(frozen=True)
class Load:
    """What an action took.

    Attributes:
        wall_s: Seconds on the wall.
        cpu_s: Processor seconds, of the processes that it started too.
        peak_mb: The most memory that its process had, libraries included.
        worker_mb: The most memory that a process started by it had; 0 if none was.
        numbers: Numbers that it returned.
    """

    wall_s: float
    cpu_s: float
    peak_mb: float
    worker_mb: float
    numbers: dict[str, float]


def measure(make: Make, prepare: Prepare, size: int) -> Load:
    """Make files in one process and run the action in another, whose memory then is that of the action alone."""
    with tempfile.TemporaryDirectory(prefix="bench-scale-") as folder:
        _run_alone(_make_files, make, Path(folder), size)
        load = _run_alone(_run_action, prepare, Path(folder), size)
    if not isinstance(load, Load):
        raise TypeError(f"expected a load, saw {load!r}")
    return load


def _run_alone(work: Callable[..., None], *arguments: object) -> object:
    """Run in a new process, which may start others, and return what it sends."""
    context = multiprocessing.get_context("spawn")
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(*arguments, send))
    process.start()
    send.close()  # or its end would not be seen
    try:
        return receive.recv()
    except EOFError:
        raise SystemExit(f"{arguments} ended without an answer") from None
    finally:
        process.join()


def _make_files(make: Make, folder: Path, size: int, send: Connection) -> None:
    make(folder, size)
    send.send(None)


def _run_action(prepare: Prepare, folder: Path, size: int, send: Connection) -> None:
    action = prepare(folder, size)
    wall, cpu = time.perf_counter(), _processor_seconds()
    numbers = action() or {}
    send.send(
        Load(
            wall_s=time.perf_counter() - wall,
            cpu_s=_processor_seconds() - cpu,
            peak_mb=_read_own_peak(),
            worker_mb=_read_peak(resource.RUSAGE_CHILDREN),
            numbers=numbers,
        )
    )


def _processor_seconds() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def _read_own_peak() -> float:
    """Return the most memory of this process; where `getrusage` begins with its parent's, the kernel's own count."""
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="utf-8").splitlines() if status.is_file() else []
    found = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
    return int(found[0]) / 1024 if found else _read_peak(resource.RUSAGE_SELF)


def _read_peak(who: int) -> float:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(who).ru_maxrss * unit / 2**20


def describe(name: str, loads: Mapping[int, Load]) -> Iterator[Row]:
    """Yield a row for every size; the largest has the exponent of time, and its memory beside the smallest's."""
    for size, load in loads.items():
        numbers = {
            "size": float(size),
            "wall_s": load.wall_s,
            "cpu_s": load.cpu_s,
            "peak_mb": load.peak_mb,
            **({"worker_mb": load.worker_mb} if load.worker_mb else {}),
            **load.numbers,
        }
        if size == max(loads) and len(loads) > 1:
            numbers["exponent"] = fit_exponent({n: each.wall_s for n, each in loads.items()})
            numbers["memory_ratio"] = load.peak_mb / loads[min(loads)].peak_mb
        yield Row(f"{name}: {size:,}", numbers)
