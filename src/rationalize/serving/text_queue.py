"""Texts waiting for a model: a bounded queue from which texts of similar length are taken together.

The event loop adds and withdraws texts, the model's own thread takes them out.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rationalize.serving.serve_settings import ServeLimits
from rationalize.serving.ticket import Ticket
from rationalize.types import Example

SHORT = 200  # characters; shorter texts all count as similar


@dataclass(frozen=True, slots=True)
class ModelQuestion:
    """The kind of request; only texts with the same kind are read together."""

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
    """The queue has no room for the texts."""


class TextQueue:
    """First come, first served, together with later texts of similar length.

    Args:
        limits: How many texts may wait, and be read together.
        readers: How many threads take texts; each takes its share of those that wait or are being read.
    """

    def __init__(self, limits: ServeLimits, readers: int = 1) -> None:
        self._limits = limits
        self._readers = readers
        self._waiting: list[WaitingText] = []
        self._changed = threading.Condition()
        self._closed = False
        self._reading: dict[int, int] = {}  # by thread
        # To wake a thread takes as long as to answer a text, so only once one will not wait on.
        self._awaited: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, texts: Sequence[WaitingText]) -> None:
        """Add all texts, or none: `QueueFullError`."""
        with self._changed:
            if self._closed or len(self._waiting) + len(texts) > self._limits.queue_texts:
                raise QueueFullError
            self._waiting += texts
            self._wake()

    def take(self, patience_s: float = 0.0) -> list[WaitingText]:
        """Wait for texts and take those to read together; an empty list if closed and empty.

        Most texts gather while the model reads. Those of callers who have just been answered come a moment later: a
        thread waits for as many as it took before, but after `patience_s` seconds for any.
        """
        me = threading.get_ident()
        with self._changed:
            self._wait_for(self._find_share(coming=self._reading.pop(me, 0)), patience_s)
            self._wait_for(1, None)
            taken = choose_alike(self._waiting, self._limits, self._find_share())
            chosen = set(map(id, taken))
            self._waiting = [text for text in self._waiting if id(text) not in chosen]
            self._reading[me] = len(taken)
            self._wake()  # another one, if texts are left
            return taken

    def _find_share(self, coming: int = 0) -> int:
        """Return how many texts are one reader's part of all that are there."""
        there = len(self._waiting) + sum(self._reading.values()) + coming
        return max(1, min(self._limits.batch_texts, math.ceil(there / self._readers)))

    def _wait_for(self, texts: int, seconds: float | None) -> None:
        me = threading.get_ident()
        self._awaited[me] = texts
        self._changed.wait_for(lambda: len(self._waiting) >= texts or self._closed, seconds)
        del self._awaited[me]

    def _wake(self) -> None:
        if len(self._waiting) >= min(self._awaited.values(), default=math.inf):
            self._changed.notify_all()

    def withdraw(self, ticket: Ticket) -> None:
        """Drop the waiting texts of an abandoned request."""
        with self._changed:
            self._waiting = [text for text in self._waiting if text.ticket is not ticket]

    def close(self) -> None:
        """Accept no more texts; the waiting ones can still be taken."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def abandon(self) -> list[WaitingText]:
        """Accept no more texts, and return the waiting ones, which nobody will read."""
        with self._changed:
            self.close()
            left, self._waiting = self._waiting, []
            return left


def choose_alike(waiting: Sequence[WaitingText], limits: ServeLimits, most: int) -> list[WaitingText]:
    """Choose the oldest text, and the oldest of those with the same question and a similar length, `most` in all.

    Lengths differ at most by a factor of two: padding stays cheap, and the oldest text never waits for others.
    """
    taken: list[WaitingText] = []
    room = limits.batch_chars
    for text in waiting:
        if len(taken) == most:
            break
        fits = not taken or (
            text.question == taken[0].question
            and text.chars <= room
            and _is_alike(text.chars, taken[0].chars)
        )
        if fits:
            taken.append(text)
            room -= text.chars
    return taken


def _is_alike(one: int, other: int) -> bool:
    return max(one, other) <= max(SHORT, 2 * min(one, other))
