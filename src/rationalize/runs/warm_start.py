"""Encoders that know the task before anything is selected: a plain classifier is trained first and lends its own."""

from __future__ import annotations

import fcntl
import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from rationalize.config import DataConfig, RunConfig, resolve_options
from rationalize.files import to_json
from rationalize.runs.training_data import TrainingData, drop_gold

CLASSIFIER = "full_text"


def classifier_config(config: RunConfig) -> RunConfig:
    """The run that the classifier comes from: the same texts, labels only."""
    changed = {"epochs": config.training.warm_start, "warm_start": 0, "epoch_share": 1.0, "select_by": "auto"}
    # It reads no gold, so that runs which differ in how much of it they read can share it.
    data = config.data.model_copy(update={"gold_share": DataConfig().gold_share})
    training = config.training.model_copy(update=changed)
    return resolve_options(
        RunConfig(method=CLASSIFIER, seed=config.seed, data=data, encoder=config.encoder, training=training)
    )


def classifier_name(config: RunConfig, data: TrainingData) -> str | None:
    """A name that runs with the same classifier have in common; None: the run starts without one."""
    if not config.training.warm_start:
        return None
    settings = classifier_config(config).model_dump(mode="json")
    told = to_json([settings, _plain(data).fingerprint()], indent=None)
    return f"warm-seed{config.seed}-{hashlib.sha256(told.encode()).hexdigest()[:8]}"


def warm_up(
    config: RunConfig,
    data: TrainingData,
    folder: Path,
    train: Callable[[RunConfig, TrainingData, Path], object],
) -> TrainingData:
    """The data with a classifier to start from, trained in `folder` unless it is there.

    Several processes may ask for the same one at once: the first trains it, the others wait.
    """
    if not config.training.warm_start or data.start is not None:
        return data
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f".{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "model").is_dir():
            train(classifier_config(config), _plain(data), folder)
    return replace(data, start=folder / "model")


def _plain(data: TrainingData) -> TrainingData:
    return replace(drop_gold(data), augmented=(), notes=())
