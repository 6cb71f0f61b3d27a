"""Texts that wait for a model: a bounded line out of which texts of similar length are taken together.

The event loop puts texts in and withdraws them, the model's own thread takes them out.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rationalize.serving._ticket import Ticket
from rationalize.serving.serve_settings import ServeLimits
from rationalize.types import Example

SHORT = 200  # characters; below, lengths do not matter


@dataclass(frozen=True, slots=True)
class ModelQuestion:
    """What is asked about a text; only texts with the same question are read together."""

    kind: Literal["explain", "predict"]
    truncate: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class WaitingText:
    """One text of a request."""

    question: ModelQuestion
    example: Example
    ticket: Ticket
    index: int

    @property
    def chars(self) -> int:
        """How long it is, query included."""
        return len(self.example.text) + len(self.example.query or "")


class QueueFullError(Exception):
    """More texts than may wait."""


class TextQueue:
    """First come, first served, together with those behind that are about as long."""

    def __init__(self, limits: ServeLimits) -> None:
        self._limits = limits
        self._waiting: list[WaitingText] = []
        self._changed = threading.Condition()
        self._closed = False

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, texts: Sequence[WaitingText]) -> None:
        """All of them, or none: `QueueFullError`."""
        with self._changed:
            if self._closed or len(self._waiting) + len(texts) > self._limits.queue_texts:
                raise QueueFullError
            self._waiting += texts
            self._changed.notify()

    def take(self) -> list[WaitingText]:
        """The next texts to be read together; waits for some. Closed and none left: an empty list.

        Nobody is waited for once there is a text: while the model reads, the next ones gather by themselves.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            taken = choose_alike(self._waiting, self._limits)
            chosen = set(map(id, taken))
            self._waiting = [text for text in self._waiting if id(text) not in chosen]
            return taken

    def withdraw(self, ticket: Ticket) -> None:
        """Forget what still waits of a request that nobody waits for any more."""
        with self._changed:
            self._waiting = [text for text in self._waiting if text.ticket is not ticket]

    def close(self) -> list[WaitingText]:
        """Take no more. What waits is still handed out; it is returned for whoever cannot do that."""
        with self._changed:
            self._closed = True
            self._changed.notify()
            return list(self._waiting)


def choose_alike(waiting: Sequence[WaitingText], limits: ServeLimits) -> list[WaitingText]:
    """The oldest text, and the oldest of those that go well with it: same question, about the same length.

    At most twice as long, at least half as long: padding stays cheap, and the oldest text never waits for others.
    """
    taken: list[WaitingText] = []
    room = limits.batch_chars
    for text in waiting:
        if len(taken) == limits.batch_texts:
            break
        fits = not taken or (
            text.question == taken[0].question and text.chars <= room and _alike(text.chars, taken[0].chars)
        )
        if fits:
            taken.append(text)
            room -= text.chars
    return taken


def _alike(one: int, other: int) -> bool:
    return max(one, other) <= max(SHORT, 2 * min(one, other))
