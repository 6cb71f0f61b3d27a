"""Several processes on this machine that train together, as a launcher would start them, but by fork: in no time."""

from __future__ import annotations

import os
import socket
import traceback
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from helpers import Listener, tiny_corpus, tiny_run
from rationalize.config import RunConfig
from rationalize.runs.run import train
from rationalize.runs.training_data import make_training_data
from rationalize.training.crew import lead_crew
from rationalize.training.helping import help_training


def find_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def launch(n: int, work: Callable[[], Any]) -> list[int | None]:
    """Do the same work in n processes that know of each other; return their exit codes."""
    fork, port = get_context("fork"), find_port()

    def begin(rank: int) -> None:
        os.environ |= {"RANK": str(rank), "WORLD_SIZE": str(n), "LOCAL_RANK": str(rank)}
        os.environ |= {"LOCAL_WORLD_SIZE": str(n), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)  # not the end of the test run that was forked

    started = [fork.Process(target=begin, args=(rank,)) for rank in range(n)]
    for process in started:
        process.start()
    for process in started:
        process.join(120)
        process.kill()
    return [process.exitcode for process in started]


def run_of(method: str, **settings: Any) -> RunConfig:
    """A run of few steps; batches of 5 that no number of processes divides."""
    training = {
        "epochs": 2,
        "batch_size": 5,
        "log_every": 1,
        "checkpoint_every": 3,
        "cache": "off",
        "keep": "all",
    }
    training |= settings.pop("training", {})
    return tiny_run(method, training=training, **settings)


def train_in(folder: Path, config: RunConfig, *, resume: bool = False, display: Any = None) -> Listener:
    """Train in this process, be it alone or the first of several."""
    corpus = tiny_corpus(20)
    display = display or Listener()
    with lead_crew() as crew:
        crew.check_device("cpu")
        train(config, make_training_data(config, corpus[:14], corpus[14:]), folder, display, resume=resume)
    return display


def train_together(n: int, folder: Path, config: RunConfig, *, resume: bool = False) -> list[int | None]:
    """Train in n processes; return their exit codes."""

    def work() -> None:
        if os.environ["RANK"] == "0":
            train_in(folder, config, resume=resume)
        else:
            help_training().take_result()

    return launch(n, work)
