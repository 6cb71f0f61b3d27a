"""What reads texts with a model: a thread of the service itself, or a process of its own."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Protocol

from rationalize.errors import CheckpointError, RationalizeError
from rationalize.serving._answering import answer_together
from rationalize.serving.served_model import Loader, ModelFacts
from rationalize.serving.text_queue import ModelQuestion
from rationalize.serving.ticket import Answer
from rationalize.types import Example

log = logging.getLogger("rationalize.serving")

_loading = threading.Lock()  # not all libraries import safely from several threads


class ReaderLostError(Exception):
    """The process that read is gone; another one can be started."""


class ModelReader(Protocol):
    """A model in memory, here or elsewhere. One thread opens, asks and closes it."""

    @property
    def facts(self) -> ModelFacts:
        """Its description."""

    def answer(self, question: ModelQuestion, examples: Sequence[Example]) -> list[Answer]:
        """Return one answer per example, in order.

        Raises:
            ReaderLostError: If there is nobody to answer any more.
        """

    def close(self) -> None:
        """End it."""


class OwnReader:
    """The model in this process."""

    def __init__(self, folder: Path, device: str, load: Loader) -> None:
        with _loading:
            self._model = load(folder, device)
        self.facts = self._model.facts

    def answer(self, question: ModelQuestion, examples: Sequence[Example]) -> list[Answer]:
        """Return one answer per example, in order."""
        return answer_together(self._model, question, examples)

    def close(self) -> None:
        """Nothing has to be ended."""


class ReadingProcess:
    """A copy of the model in a process of its own, which ends when its pipe does, so also when the service is killed.

    Python runs one thread at a time in a process. Small models are mostly Python, so only processes read at once.

    Raises:
        RationalizeError: If the model cannot be loaded.
    """

    def __init__(self, folder: Path, device: str, load: Loader, threads: int) -> None:
        start = get_context("spawn")
        self._pipe, other = start.Pipe()
        self._process = start.Process(
            target=_read_on,
            args=(other, folder, device, load, threads),
            name=f"reads {folder.name}",
            daemon=True,
        )
        self._process.start()
        other.close()  # the only one left is in the process, so its end is noticed
        try:
            first: ModelFacts | str = self._pipe.recv()
        except EOFError:
            self.close()
            raise CheckpointError(
                f"{folder}: the process that should load the model ended, perhaps for lack of memory. "
                "Expected room for one copy of the model per worker; start with fewer workers."
            ) from None
        if isinstance(first, str):
            self.close()
            raise CheckpointError(first)
        self.facts = first

    def answer(self, question: ModelQuestion, examples: Sequence[Example]) -> list[Answer]:
        """Return one answer per example, in order."""
        try:
            self._pipe.send((question, examples))
            answers: list[Answer] = self._pipe.recv()
        except (EOFError, OSError):
            raise ReaderLostError from None
        return answers

    def close(self) -> None:
        """Let the process end."""
        self._pipe.close()
        self._process.join(5)
        self._process.kill()


def open_reader(folder: Path, device: str, load: Loader, workers: int) -> ModelReader:
    """Open one of so many readers of a model: a single one in this process, several in one each."""
    if workers == 1:
        return OwnReader(folder, device, load)
    return ReadingProcess(folder, device, load, max(1, (os.cpu_count() or 1) // workers))


def _read_on(pipe: Connection, folder: Path, device: str, load: Loader, threads: int) -> None:
    """Answer what comes through the pipe until it is closed."""
    # A stop signal goes to the whole group: the service first finishes what is open, and then closes the pipe.
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    import torch

    torch.set_num_threads(threads)
    try:
        model = load(folder, device)
    except Exception as error:  # the service says why
        pipe.send(str(error) if isinstance(error, RationalizeError) else repr(error))
        return
    pipe.send(model.facts)
    try:
        while True:
            question, examples = pipe.recv()
            pipe.send(answer_together(model, question, examples))
    except (EOFError, OSError):  # the service has ended
        return
