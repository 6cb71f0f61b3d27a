"""Ctrl-C and SIGTERM: long work finishes its step, saves it and says so; a second signal ends it at once."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)
_NOTICE = b"\nstopping after this step; once more ends at once\n"


class Interrupted(KeyboardInterrupt):
    """The work was stopped by a signal; the message tells what was saved.

    Attributes:
        signal: The signal's number.
    """

    def __init__(self, message: str = "interrupted", number: int = signal.SIGINT) -> None:
        super().__init__(message, number)  # both, so that it survives the way out of another process
        self.signal = number

    def __str__(self) -> str:
        return str(self.args[0])

    @property
    def exit_code(self) -> int:
        """The exit code that shells expect: 130 after Ctrl-C, 143 after SIGTERM."""
        return 128 + int(self.signal)


@dataclass
class Deferred:
    """A signal that came while work was going on, if any."""

    number: int | None = None

    def interrupt(self, saved: str) -> None:
        """Raise Interrupted if a signal came."""
        if self.number is not None:
            raise Interrupted(saved, self.number)


@contextmanager
def defer_signals(*, once: bool = False) -> Iterator[Deferred]:
    """Take note of the first SIGINT or SIGTERM instead of breaking off; the second breaks off, unless with `once`.

    Only the main thread of a process can do so; elsewhere signals stay as they are, as does one that is ignored.
    """
    deferred = Deferred()

    def note(number: int, frame: FrameType | None) -> None:
        if deferred.number is not None:
            if once:
                return
            raise Interrupted("interrupted a second time; the last checkpoint counts", number)
        deferred.number = number
        os.write(2, _NOTICE)  # the one way to print that is allowed in the middle of anything

    with _handle_signals(note):
        yield deferred


@contextmanager
def leave_signals_to_others() -> Iterator[None]:
    """Do nothing at SIGINT and SIGTERM: another process, which gets them too, decides what follows."""
    with _handle_signals(lambda number, frame: None):
        yield


@contextmanager
def raise_when_terminated() -> Iterator[None]:
    """Let SIGTERM end the work as Ctrl-C does, so that nothing half done is left behind."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise Interrupted("terminated", number)

    with _handle_signals(stop, (signal.SIGTERM,)):
        yield


@contextmanager
def _handle_signals(
    handler: Callable[[int, FrameType | None], None], numbers: tuple[signal.Signals, ...] = SIGNALS
) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before: dict[signal.Signals, Any] = {each: signal.getsignal(each) for each in numbers}
    taken = [each for each in numbers if before[each] not in (signal.SIG_IGN, None)]
    try:
        for each in taken:
            signal.signal(each, handler)
        yield
    finally:
        for each in taken:
            signal.signal(each, before[each])
