"""Let the model read all texts in the background, a few at a time, so that pages need not wait for it."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence

from rationalize.serving.api_problem import ApiProblem
from rationalize.serving.text_queue import ModelQuestion
from rationalize.serving.ticket import Answer, UnreadText
from rationalize.studio._decisions import Suggestion
from rationalize.studio.workshop import Studio
from rationalize.types import Explanation

log = logging.getLogger("rationalize.studio")

AT_ONCE = 8  # few, so that a person who asks in between hardly waits
PAUSE_S = 0.5
TOO_SLOW = 504


async def read_in_background(studio: Studio) -> None:
    """Read until all texts are read by the suggesting model, then wait for another model; forever."""
    failed: set[tuple[str, int]] = set()
    while True:
        await asyncio.to_thread(studio.adopt_finished)
        model = await asyncio.to_thread(lambda: studio.suggesting)
        worker = studio.service.workers.get(model or "")
        training = await asyncio.to_thread(lambda: studio.runs.running)
        if model is None or worker is None or worker.state != "ready" or training:  # leave it the cores
            await asyncio.sleep(PAUSE_S)
            continue
        unread = await asyncio.to_thread(_list_unread, studio, model)
        numbers = [number for number in unread if (model, number) not in failed][:AT_ONCE]
        if not numbers:
            await asyncio.sleep(PAUSE_S)
            continue
        failed |= {(model, number) for number in await read_texts(studio, model, numbers)}


async def read_texts(studio: Studio, model: str, numbers: Sequence[int]) -> list[int]:
    """Keep what the model would mark in some texts; return those that it could not read."""
    worker = studio.service.workers[model]
    examples = [studio.pool[number] for number in numbers]
    try:
        answers = await worker.ask(ModelQuestion("explain"), examples, _stay)
    except ApiProblem as problem:
        log.warning("suggestions: %s", problem.what)
        await asyncio.sleep(PAUSE_S)
        if problem.status != TOO_SLOW:
            return []  # a busy or missing model: later
        # One text that takes too long must not be tried forever, nor take others with it.
        return list(numbers) if len(numbers) == 1 else await _read_singly(studio, model, numbers)
    read = [_to_suggestion(number, answer) for number, answer in zip(numbers, answers, strict=True)]
    await asyncio.to_thread(studio.store.save_suggestions, model, [each for each in read if each is not None])
    return [number for number, each in zip(numbers, read, strict=True) if each is None]


async def _read_singly(studio: Studio, model: str, numbers: Sequence[int]) -> list[int]:
    return [failed for number in numbers for failed in await read_texts(studio, model, [number])]


async def _stay() -> None:
    """Nobody hangs up."""
    await asyncio.Event().wait()


def _list_unread(studio: Studio, model: str) -> list[int]:
    """List the texts that the model has not read, in random order: what is read first is a fair sample."""
    known = studio.store.list_suggested(model)
    return [number for number in studio.order("random") if number not in known]


def _to_suggestion(number: int, answer: Answer) -> Suggestion | None:
    if isinstance(answer, UnreadText):
        return None
    found = Explanation.from_dict(json.loads(answer))
    return Suggestion(number, found.label, found.probabilities, found.spans, bool(found.review))
