"""A whole small run, artifacts included, and what it leaves on disk."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from helpers import Listener, tiny_corpus, tiny_run
from rationalize.config import RunConfig
from rationalize.runs.run import train
from rationalize.runs.training_data import TrainingData, make_training_data

SETTINGS: dict[str, Any] = {
    "device": "cpu",
    "encoder": {"hidden_size": 16},
    "training": {
        "epochs": 3,
        "batch_size": 16,
        "learning_rate": 3e-4,
        "select_by": "last",
        "checkpoint_every": 2,
        "log_every": 2,
    },
    "shortcuts": {"epochs": 1, "min_run": 1},
    "augment": {"kind": "random"},
}


def small_config(method: str = "ssr_unif", **changes: Any) -> RunConfig:
    """SSR on 40 texts: trains an Un-RAT, finds shortcuts, augments, then trains in three phases."""
    merged = {**SETTINGS, **{key: {**SETTINGS.get(key, {}), **value} for key, value in changes.items()}}
    return tiny_run(method, **merged)


def plain_config(method: str = "semi_rat", **changes: Any) -> RunConfig:
    """The same without shortcuts: one training, no artifacts."""
    return small_config(method, **{"augment": {"kind": "none"}, **changes})


def small_data(config: RunConfig) -> TrainingData:
    corpus = tiny_corpus(50)
    return make_training_data(config, corpus[:40], corpus[40:])


def run(
    config: RunConfig, folder: Path, *, resume: bool = False, data: TrainingData | None = None
) -> Listener:
    """Train and return what was said."""
    display = Listener()
    train(config, data or small_data(config), folder, display, resume=resume)
    return display


class Stops(Listener):
    """A display that interrupts training at a step of its own count."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self.at = at

    def step(self, phase: str, step: int, losses: Any) -> None:
        super().step(phase, step, losses)
        if len(self.steps) == self.at:
            raise KeyboardInterrupt


def interrupt(config: RunConfig, folder: Path, at: int, *, resume: bool = False) -> None:
    """Train until a step, and be interrupted there."""
    with pytest.raises(KeyboardInterrupt):
        train(config, small_data(config), folder, Stops(at), resume=resume)


def tree(folder: Path) -> dict[str, str]:
    """SHA-256 of every file of a run, and its folders, hidden ones too; what describes the machine is left out."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        if path.is_file()
        else "folder"
        for path in sorted(folder.rglob("*"))
        if path.name != "env.json"
    }
