"""Progress of long work: one live line on a terminal, occasional plain lines elsewhere.

Everything goes to stderr, so that stdout stays machine-readable.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from contextlib import contextmanager
from types import TracebackType
from typing import Self, TypeVar

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table as Grid
from rich.text import Text

from rationalize.printable import make_printable, to_one_line
from rationalize.reporting.terminal import guard_console, make_console
from rationalize.reporting.wording import format_dev_scores, format_duration

Item = TypeVar("Item")
Clock = Callable[[], float]


class ProgressLine:
    """One line of progress: live on a terminal, else printed at most every `every_s` seconds."""

    def __init__(self, *, quiet: bool, every_s: float, console: Console | None, clock: Clock) -> None:
        self.console = guard_console(console) if console else make_console(stderr=True)
        self.quiet = quiet
        self.every_s = every_s
        self.clock = clock
        self.done = self.total = self.first = 0
        self.text = ""
        self.unit = ""
        self._began = self._printed = clock()
        self._live: Live | None = None

    def begin(self, total: int, first: int = 0) -> None:
        """Start counting at `first` of `total`."""
        self.done, self.total, self.first = first, total, first
        self._began = self._printed = self.clock()
        if self.console.is_terminal and not self.quiet and self._live is None:
            self._live = Live(
                get_renderable=self._grid, console=self.console, transient=True, refresh_per_second=4
            )
            self._live.start()

    def update(self, done: int, text: str) -> None:
        """Show how much is done, and a text."""
        self.done, self.text = done, text
        if self._live is None and self.clock() - self._printed >= self.every_s:
            self._printed = self.clock()
            self.say(f"{self._count()} {text}, {self._left()}".strip())

    def say(self, text: str, *, style: str = "", always: bool = False) -> None:
        """Print a line that stays."""
        if always or not self.quiet:
            self.console.print(Text(make_printable(text), style=style), soft_wrap=True)

    def end(self) -> None:
        """Remove the live line."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _count(self) -> str:
        return f"{self.done}/{self.total}" if self.total else f"{self.done}"

    def _left(self) -> str:
        """Estimate the time left from the pace since the start or the resumption."""
        advanced, elapsed = self.done - self.first, self.clock() - self._began
        if not self.total or advanced <= 0:
            return f"{format_duration(elapsed)} so far{self._rate(advanced, elapsed)}"
        left = format_duration(elapsed / advanced * (self.total - self.done))
        return f"{left} left{self._rate(advanced, elapsed)}"

    def _rate(self, advanced: int, elapsed: float) -> str:
        """Return the pace, if it is wanted and known."""
        if not self.unit or advanced <= 0 or elapsed <= 0:
            return ""
        return f", {advanced / elapsed:.3g} {self.unit}/s"

    def _grid(self) -> Grid:
        grid = Grid.grid(padding=(0, 1), expand=True)
        bar = ProgressBar(total=self.total or None, completed=self.done, width=12, pulse=not self.total)
        grid.add_column(width=12)
        grid.add_column(no_wrap=True, min_width=len(self._count()))
        grid.add_column(no_wrap=True, ratio=1, overflow="ellipsis")
        grid.add_column(no_wrap=True, justify="right", min_width=len(self._left()))
        grid.add_row(bar, self._count(), Text(to_one_line(self.text)), Text(self._left(), style="dim"))
        return grid


class TrainingDisplay:
    """Shows the training loop at work.

    Args:
        quiet: Print warnings only.
        every_s: Seconds between lines without a terminal; the end of an epoch is always shown.
        console: Where to write; stderr if not given.
        clock: Returns the time, in seconds.
    """

    def __init__(
        self,
        *,
        quiet: bool = False,
        every_s: float = 30.0,
        console: Console | None = None,
        clock: Clock = time.monotonic,
    ) -> None:
        self._line = ProgressLine(quiet=quiet, every_s=every_s, console=console, clock=clock)
        self._dev = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._line.end()

    def start(self, total_steps: int, resumed_at: int = 0) -> None:
        """Start at the first step, or at the one where training resumes."""
        if resumed_at:
            self.message(f"resumed at step {resumed_at} of {total_steps}")
        self._dev = ""  # still set by an earlier training: a finder's, a warm start's
        self._line.begin(total_steps, resumed_at)

    def step(self, phase: str, step: int, losses: Mapping[str, float]) -> None:
        """Show the losses after a batch."""
        parts = " ".join(f"{name} {value:.3f}" for name, value in losses.items())
        dev = f" · dev {self._dev}" if self._dev else ""
        self._line.update(step, f"{phase}: {parts}{dev}")

    def epoch(self, epoch: int, dev: Mapping[str, float], best: bool) -> None:
        """Print the dev scores after an epoch (counted from 0, shown from 1)."""
        self._dev = format_dev_scores(dev)
        self._line.say(
            f"epoch {epoch + 1}: dev {self._dev or 'not scored'}{' (best so far)' if best else ''}"
        )

    def message(self, text: str) -> None:
        """Print a message, unless quiet."""
        self._line.say(text)

    def warn(self, text: str) -> None:
        """Print a warning, even when quiet."""
        self._line.say(f"warning: {text}", style="bold red", always=True)


def track(
    iterable: Iterable[Item],
    description: str,
    total: int | None = None,
    *,
    quiet: bool = False,
    every_s: float = 30.0,
    console: Console | None = None,
    clock: Clock = time.monotonic,
) -> Iterator[Item]:
    """Yield the items and show how many have been taken.

    Args:
        iterable: The items.
        description: What is being done.
        total: Number of items; None: the iterable's length, if known.
        quiet: Show nothing.
        every_s: Seconds between lines without a terminal.
        console: Where to write; stderr if not given.
        clock: Returns the time, in seconds.
    """
    known = total if total is not None else len(iterable) if isinstance(iterable, Sized) else 0
    line = ProgressLine(quiet=quiet, every_s=every_s, console=console, clock=clock)
    line.begin(known)
    line.text = description
    try:
        for count, item in enumerate(iterable, start=1):
            yield item
            line.update(count, description)
    finally:
        line.end()


@contextmanager
def show_progress(
    description: str,
    *,
    quiet: bool = False,
    every_s: float = 30.0,
    unit: str = "",
    console: Console | None = None,
    clock: Clock = time.monotonic,
) -> Iterator[Callable[[int, int], None]]:
    """Yield a function that shows (done, total), and so many units a second; other arguments as for `track`."""
    line = ProgressLine(quiet=quiet, every_s=every_s, console=console, clock=clock)
    line.unit = unit
    line.begin(0)
    line.text = description

    def update(done: int, total: int) -> None:
        line.total = total
        line.update(done, description)

    try:
        yield update
    finally:
        line.end()
