"""One request's answers: they arrive one by one, and the ticket is done when all are there."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class UnreadText:
    """A text that the model could not read; the reason never contains the text."""

    reason: str


Answer = bytes | UnreadText
"""JSON, or the reason for a failure."""


class Ticket:
    """Lives on the event loop; only `loop` may be used from another thread."""

    def __init__(self, texts: int) -> None:
        self.loop = asyncio.get_running_loop()
        self.done: asyncio.Future[list[Answer]] = self.loop.create_future()
        self._answers: list[Answer] = [UnreadText("not answered")] * texts
        self._open = texts

    def fill(self, index: int, answer: Answer) -> None:
        """Set the answer to one text."""
        self._answers[index] = answer
        self._open -= 1
        if self._open == 0 and not self.done.done():
            self.done.set_result(self._answers)

    def give_up(self, reason: Exception) -> None:
        """End the waiting with an error, unless it is over."""
        if not self.done.done():
            self.done.set_exception(reason)
