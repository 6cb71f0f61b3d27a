"""One model and the one thread that loads and runs it: two would only compete for the same cores."""

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
from rationalize.serving._answering import answer_together, log_without_message
from rationalize.serving._service_metrics import ServiceMetrics
from rationalize.serving.api_problem import ApiProblem
from rationalize.serving.serve_settings import ServeSettings
from rationalize.serving.served_model import Loader, ModelFacts, ServedModel
from rationalize.serving.text_queue import ModelQuestion, QueueFullError, TextQueue, WaitingText
from rationalize.serving.ticket import Answer, Ticket, UnreadText
from rationalize.types import Example

log = logging.getLogger("rationalize.serving")

_loading = threading.Lock()  # not all libraries import safely from several threads
GATHERING = 0.2  # of the time of the last batch, for the next texts of those whom it answered
LONGEST_GATHERING_S = 0.02
UNHEARD_S = 0.05  # a caller who hangs up sooner is read for
LOADING_SECONDS = 5  # until a caller should retry


class ModelWorker:
    """Answers requests with one model.

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
        self._queue = TextQueue(settings.limits)
        self._pace = 0.1  # seconds per text, a running mean
        self._thread = threading.Thread(target=self._run, name=f"model {name}", daemon=True)
        metrics.watch_model(name, lambda: len(self._queue), lambda: self.state == "ready")

    def start(self) -> None:
        """Start loading the model."""
        self._thread.start()

    def stop(self) -> None:
        """Finish waiting texts, and end the thread."""
        self._queue.close()
        self._thread.join(self._settings.limits.request_seconds)

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
        """Load the model, then answer until the queue is closed and empty."""
        try:
            with _loading:
                model = self._load(self._folder, self._settings.device)
        except Exception as error:  # the other models still work
            self._fail(str(error) if isinstance(error, RationalizeError) else repr(error))
            return
        self.facts, self.state = model.facts, "ready"
        log.info("model %s is ready", self.name)
        try:
            gather, patience = 1, 0.0
            while texts := self._queue.take(gather, patience):
                seconds = self._answer(model, texts)
                # Callers who wait for each answer would else fall into two groups that are read in turn.
                gather = min(len(texts) + len(self._queue), self._settings.limits.batch_texts)
                patience = min(GATHERING * seconds, LONGEST_GATHERING_S)
        except BaseException as error:
            log_without_message(f"model {self.name} stopped", error)
            self._fail(
                f"the worker stopped ({type(error).__name__}); see the log, and start the service again."
            )

    def _fail(self, why: str) -> None:
        self.why, self.state = why, "failed"
        log.error("model %s cannot be served: %s", self.name, why)
        left = self._queue.close()
        _deliver(left, [UnreadText("the worker stopped")] * len(left))

    def _answer(self, model: ServedModel, texts: Sequence[WaitingText]) -> float:
        """Answer texts together; return the seconds that took."""
        question = texts[0].question
        start = time.perf_counter()
        answers = answer_together(model, question, [text.example for text in texts])
        seconds = time.perf_counter() - start
        _deliver(texts, answers)
        self._pace += 0.1 * (seconds / len(texts) - self._pace)
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
