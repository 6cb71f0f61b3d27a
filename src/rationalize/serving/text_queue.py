"""Texts waiting for a model: a bounded queue from which texts of similar length are taken together.

The event loop adds and withdraws texts, the model's own thread takes them out.
"""

from __future__ import annotations

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
    """First come, first served, together with later texts of similar length."""

    def __init__(self, limits: ServeLimits) -> None:
        self._limits = limits
        self._waiting: list[WaitingText] = []
        self._changed = threading.Condition()
        self._closed = False
        self._awaited = (
            1  # to wake a thread takes as long as to answer a text, so only once it will not wait on
        )

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, texts: Sequence[WaitingText]) -> None:
        """Add all texts, or none: `QueueFullError`."""
        with self._changed:
            if self._closed or len(self._waiting) + len(texts) > self._limits.queue_texts:
                raise QueueFullError
            self._waiting += texts
            if len(self._waiting) >= self._awaited:
                self._changed.notify()

    def take(self, gather: int = 1, patience_s: float = 0.0) -> list[WaitingText]:
        """Wait for texts and take those to read together; an empty list if closed and empty.

        Most texts gather while the model reads. Those of callers who have just been answered come a moment later: it
        waits for `gather` texts, but after `patience_s` seconds for any.
        """
        with self._changed:
            self._wait_for(gather, patience_s)
            self._wait_for(1, None)
            taken = choose_alike(self._waiting, self._limits)
            chosen = set(map(id, taken))
            self._waiting = [text for text in self._waiting if id(text) not in chosen]
            return taken

    def _wait_for(self, texts: int, seconds: float | None) -> None:
        self._awaited = texts
        self._changed.wait_for(lambda: len(self._waiting) >= texts or self._closed, seconds)

    def withdraw(self, ticket: Ticket) -> None:
        """Drop the waiting texts of an abandoned request."""
        with self._changed:
            self._waiting = [text for text in self._waiting if text.ticket is not ticket]

    def close(self) -> list[WaitingText]:
        """Accept no more texts; return the waiting ones, which can still be taken."""
        with self._changed:
            self._closed = True
            self._changed.notify()
            return list(self._waiting)


def choose_alike(waiting: Sequence[WaitingText], limits: ServeLimits) -> list[WaitingText]:
    """Choose the oldest text, and the oldest of those with the same question and a similar length.

    Lengths differ at most by a factor of two: padding stays cheap, and the oldest text never waits for others.
    """
    taken: list[WaitingText] = []
    room = limits.batch_chars
    for text in waiting:
        if len(taken) == limits.batch_texts:
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
