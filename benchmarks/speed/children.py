"""Measure in a process of its own, so that peak memory is that of one action."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.speed.clock import Timing, time_once
from benchmarks.speed.machine import forget_peak, peak_megabytes


@dataclass(frozen=True)
class Cost:
    """What an action cost.

    Attributes:
        timing: Its time.
        megabytes: How much memory it added to what was there before.
        peak: The most memory of its process, in MB, from its start on.
    """

    timing: Timing
    megabytes: float
    peak: float


Prepare = Callable[..., Callable[[], object]]


def measure_alone(prepare: Prepare, *arguments: Any) -> Cost:
    """Prepare an action in a new process, then time it there.

    Args:
        prepare: A function of a module; it returns the action.
        arguments: Its arguments.
    """
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        return pool.apply(_measure, (prepare, arguments))


def _measure(prepare: Prepare, arguments: tuple[Any, ...]) -> Cost:
    import torch

    torch.set_num_threads(1)
    action = prepare(*arguments)
    preparing = peak_megabytes()
    forget_peak()
    before = peak_megabytes()
    timing = time_once(action)
    peak = peak_megabytes()
    return Cost(timing, peak - before, max(preparing, peak))
