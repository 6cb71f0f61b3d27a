"""One model: its queue, and those who read for it."""

from __future__ import annotations

import asyncio
import logging
import math
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Literal

from rationalize.errors import RationalizeError
from rationalize.files import to_json
from rationalize.serving._answering import log_without_message
from rationalize.serving._service_metrics import ServiceMetrics
from rationalize.serving.api_problem import ApiProblem
from rationalize.serving.model_reader import ModelReader, ReaderLostError, open_reader
from rationalize.serving.serve_settings import ServeSettings
from rationalize.serving.served_model import Loader, ModelFacts
from rationalize.serving.text_queue import ModelQuestion, QueueFullError, TextQueue, WaitingText
from rationalize.serving.ticket import Answer, Ticket, UnreadText
from rationalize.types import Example

log = logging.getLogger("rationalize.serving")

GATHERING = 0.2  # of the time of the last batch, for the next texts of those whom it answered
LONGEST_GATHERING_S = 0.02
UNHEARD_S = 0.05  # a caller who hangs up sooner is read for
LOADING_SECONDS = 5  # until a caller should retry
LOSSES = 3  # processes that may end one after the other, without an answer, before the model is given up


class ModelWorker:
    """Answers requests with one model, read by a thread of this process, or by several processes of their own.

    Attributes:
        name: The model's name for callers.
        quoted_name: The same as JSON.
        state: loading, ready, or failed.
        why: Why it failed.
        facts: A description of the model, once it is ready.
    """

    def __init__(
        self, name: str, folder: Path, settings: ServeSettings, load: Loader, metrics: ServiceMetrics
    ) -> None:
        self.name = name
        self.quoted_name = to_json(name, indent=None).encode()
        self.state: Literal["loading", "ready", "failed"] = "loading"
        self.why: str | None = None
        self.facts: ModelFacts | None = None
        self._folder = folder
        self._settings = settings
        self._load = load
        self._metrics = metrics
        self._queue = TextQueue(settings.limits, settings.workers)
        self._pace = 0.1  # seconds per text, a running mean
        self._readers, self._counting = 0, threading.Lock()
        self._threads = [
            threading.Thread(target=self._run, name=f"model {name}, reader {number}", daemon=True)
            for number in range(settings.workers)
        ]
        metrics.watch_model(name, lambda: len(self._queue), lambda: self.state == "ready")

    def start(self) -> None:
        """Start loading the model."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Finish waiting texts, and end the readers."""
        self._queue.close()
        end = time.monotonic() + self._settings.limits.request_seconds
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))

    async def ask(
        self,
        question: ModelQuestion,
        examples: Sequence[Example],
        gone: Callable[[], Coroutine[None, None, None]],
    ) -> list[Answer]:
        """Return the answers, in order. `gone` returns when the caller has hung up."""
        if self.state != "ready":
            raise self._refuse()
        ticket = Ticket(len(examples))
        texts = [WaitingText(question, example, ticket, index) for index, example in enumerate(examples)]
        try:
            self._queue.put(texts)
        except QueueFullError:
            raise ApiProblem(
                429,
                f"{len(self._queue)} texts are waiting, and {len(texts)} more do not fit",
                where=f"queue of model {self.name}",
                expected=f"at most {self._settings.limits.queue_texts} waiting texts",
                retry_after=min(60, max(1, math.ceil(len(self._queue) * self._pace))),
            ) from None
        return await self._wait(ticket, gone)

    async def _wait(self, ticket: Ticket, gone: Callable[[], Coroutine[None, None, None]]) -> list[Answer]:
        patience = ticket.loop.call_later(
            self._settings.limits.request_seconds, lambda: ticket.give_up(self._refuse_late())
        )
        listener = _Listener(ticket, gone)
        try:
            return await ticket.done
        except BaseException:  # the request's own end, too
            self._queue.withdraw(ticket)
            raise
        finally:
            patience.cancel()
            listener.stop()

    def _refuse_late(self) -> ApiProblem:
        return ApiProblem(
            504,
            f"no answer within {self._settings.limits.request_seconds:g} seconds",
            where=f"model {self.name}",
            expected="fewer or shorter texts, or a quieter moment",
        )

    def _refuse(self) -> ApiProblem:
        loading = self.state == "loading"
        return ApiProblem(
            503,
            "the model is still being loaded"
            if loading
            else "the model could not be loaded; /readyz shows why",
            where=f"model {self.name}",
            expected="a model that is ready",
            retry_after=LOADING_SECONDS if loading else 60,
        )

    def _run(self) -> None:
        """Read until the queue is closed and empty; a process that ends meanwhile is started anew."""
        losses = 0
        while losses < LOSSES:
            try:
                reader = open_reader(self._folder, self._settings.device, self._load, self._settings.workers)
            except Exception as error:  # the other models still work
                self._fail(str(error) if isinstance(error, RationalizeError) else repr(error))
                return
            self._welcome(reader.facts, again=losses > 0)
            try:
                answered = self._read_with(reader)
            except BaseException as error:
                log_without_message(f"model {self.name} stopped", error)
                self._fail(
                    f"the worker stopped ({type(error).__name__}); see the log, and start the service again."
                )
                return
            finally:
                reader.close()
            if answered is None:
                return
            losses = 1 if answered else losses + 1
        self._fail(
            f"{LOSSES} processes that read for it ended, one after the other; see the log for their last words."
        )

    def _welcome(self, facts: ModelFacts, *, again: bool) -> None:
        """Count a reader; the model is ready when all are there."""
        if again:
            return
        with self._counting:
            self._readers += 1
            if self._readers == self._settings.workers and self.state == "loading":
                self.facts, self.state = facts, "ready"
                log.info("model %s is ready", self.name)

    def _read_with(self, reader: ModelReader) -> bool | None:
        """Answer until the queue is closed and empty; else return whether anything was answered before it was lost."""
        patience, answered = 0.0, False
        while texts := self._queue.take(patience):
            seconds = self._answer(reader, texts)
            if seconds is None:
                return answered
            # Callers who wait for each answer would else fall into two groups that are read in turn.
            patience, answered = min(GATHERING * seconds, LONGEST_GATHERING_S), True
        return None

    def _fail(self, why: str) -> None:
        self.why, self.state = why, "failed"
        log.error("model %s cannot be served: %s", self.name, why)
        left = self._queue.abandon()
        _deliver(left, [UnreadText("the worker stopped")] * len(left))

    def _answer(self, reader: ModelReader, texts: Sequence[WaitingText]) -> float | None:
        """Answer texts together; return the seconds that took, or None if the reader was lost."""
        question = texts[0].question
        start = time.perf_counter()
        try:
            answers = reader.answer(question, [text.example for text in texts])
        except ReaderLostError:
            log.error(
                "model %s: a process that read %s texts ended; another one is started", self.name, len(texts)
            )
            _deliver(texts, [UnreadText("the process that read it ended")] * len(texts))
            return None
        seconds = time.perf_counter() - start
        _deliver(texts, answers)
        self._pace += 0.1 * (seconds / len(texts) / self._settings.workers - self._pace)
        self._metrics.count_batch(self.name, question.kind, len(texts), seconds)
        return seconds


class _Listener:
    """Gives a ticket up when its caller hangs up.

    It begins a moment later: most callers are answered by then, and to listen takes as long as to answer.
    """

    def __init__(self, ticket: Ticket, gone: Callable[[], Coroutine[None, None, None]]) -> None:
        self._ticket = ticket
        self._gone = gone
        self._task: asyncio.Task[None] | None = None
        self._timer = ticket.loop.call_later(UNHEARD_S, self._start)

    def stop(self) -> None:
        """Listen no longer."""
        self._timer.cancel()
        if self._task is not None:
            self._task.cancel()

    def _start(self) -> None:
        self._task = self._ticket.loop.create_task(self._listen())

    async def _listen(self) -> None:
        await self._gone()
        self._ticket.give_up(ApiProblem(499, "the caller hung up", where="connection", expected="patience"))


def _deliver(texts: Sequence[WaitingText], answers: Sequence[Answer]) -> None:
    """Hand all answers to the event loop at once, since every call wakes it up."""

    def fill() -> None:
        for text, answer in zip(texts, answers, strict=True):
            text.ticket.fill(text.index, answer)

    loop = texts[0].ticket.loop if texts else None
    if loop is not None and not loop.is_closed():
        loop.call_soon_threadsafe(fill)
