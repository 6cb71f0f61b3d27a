"""What a harness of many attempts reports: how many were made, how many held, and the first that did not."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass
class Tally:
    """Counts attempts until a time is over."""

    name: str
    seconds: float
    attempted: int = 0
    failed: list[str] = field(default_factory=list)
    outcomes: dict[str, int] = field(default_factory=dict)

    def bound(self, attempts: Iterable[object]) -> Iterable[object]:
        """Yield attempts while there is time."""
        began = time.monotonic()
        for each in attempts:
            if time.monotonic() - began > self.seconds:
                return
            yield each

    def count(self, outcome: str) -> None:
        self.attempted += 1
        if self.attempted % 100 == 0:  # what was seen is not lost if somebody breaks off
            print(f"{self.name}: so far attempted {self.attempted}, failed {len(self.failed)}", flush=True)
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1

    def fail(self, what: str) -> None:
        self.failed.append(what)
        self.count("failed")
        print(f"{self.name}: failed: {what}", flush=True)

    def close(self, least: int) -> None:
        """Print the figures; fail if anything did not hold, or too little was tried."""
        held = self.attempted - len(self.failed)
        seen = ", ".join(f"{name} {times}" for name, times in sorted(self.outcomes.items()))
        print(f"\n{self.name}: attempted {self.attempted}, held {held}, failed {len(self.failed)} ({seen})")
        assert not self.failed, "\n".join(self.failed[:10])
        assert self.attempted >= least, f"only {self.attempted} of {least} in {self.seconds} s"
