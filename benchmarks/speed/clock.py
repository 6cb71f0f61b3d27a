"""Time actions that take turns."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Action = Callable[[], object]


@dataclass(frozen=True)
class Timing:
    """Seconds of an action in each round: of the clock on the wall, and of the processor, over all threads."""

    wall: tuple[float, ...]
    cpu: tuple[float, ...]

    @property
    def median_cpu(self) -> float:
        """Median processor seconds."""
        return statistics.median(self.cpu)

    @property
    def median_wall(self) -> float:
        """Median seconds on the wall."""
        return statistics.median(self.wall)

    @property
    def spread(self) -> float:
        """From the fastest to the slowest round in processor time, as a part of the median."""
        return (max(self.cpu) - min(self.cpu)) / self.median_cpu if self.median_cpu else 0.0

    def ratio_to(self, base: Timing) -> float:
        """Return how many times as long as the base it takes: the median over rounds, in processor time."""
        return statistics.median(own / other for own, other in zip(self.cpu, base.cpu, strict=True))


def time_once(action: Action) -> Timing:
    """Time an action once."""
    wall, cpu = time.perf_counter(), time.process_time()
    action()
    return Timing((time.perf_counter() - wall,), (time.process_time() - cpu,))


def take_turns(actions: Mapping[str, Action], rounds: int) -> dict[str, Timing]:
    """Time actions that take turns, in another order in each round."""
    found: dict[str, list[Timing]] = {name: [] for name in actions}
    names = list(actions)
    for number in range(rounds):
        shift = number % len(names)
        for name in names[shift:] + names[:shift]:
            found[name].append(time_once(actions[name]))
    return {
        name: Timing(tuple(one.wall[0] for one in each), tuple(one.cpu[0] for one in each))
        for name, each in found.items()
    }


def median_seconds(actions: Mapping[str, Action], rounds: int) -> dict[str, float]:
    """Return the median seconds on the wall of actions that take turns."""
    return {name: timing.median_wall for name, timing in take_turns(actions, rounds).items()}
