"""Encoders that know the task before anything is selected: a plain classifier is trained first and lends its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rationalize.config import DataConfig, RunConfig
from rationalize.files import wait_for_lock
from rationalize.runs.artifact_cache import find_cache, is_whole, make_key, name_lock
from rationalize.runs.settings import identify, resolve_config
from rationalize.runs.training_data import TrainingData, drop_gold
from rationalize.runs.workspace import Train
from rationalize.training.loop import Display

CLASSIFIER = "full_text"


def classifier_config(config: RunConfig) -> RunConfig:
    """The run that the classifier comes from: the same texts, labels only."""
    changed = {"epochs": config.training.warm_start, "warm_start": 0, "epoch_share": 1.0, "select_by": "auto"}
    changed |= {"keep": "model"}
    # It reads no gold, so that runs which differ in how much of it they read can share it.
    data = config.data.model_copy(update={"gold_share": DataConfig().gold_share})
    training = config.training.model_copy(update=changed)
    return resolve_config(
        RunConfig(
            method=CLASSIFIER,
            seed=config.seed,
            device=config.device,
            data=data,
            encoder=config.encoder,
            training=training,
        )
    )


def classifier_name(config: RunConfig, data: TrainingData) -> str | None:
    """A name that runs with the same classifier have in common; None: the run starts without one."""
    if not config.training.warm_start:
        return None
    return f"warm-{make_key(config, _plain(data), identify(classifier_config(config)))}"


def warm_up(
    config: RunConfig, data: TrainingData, folder: Path, display: Display, train: Train
) -> TrainingData:
    """The data with a classifier to start from, if the run wants one, trained in `folder` unless it is there.

    Several processes may ask for the same one at once: the first trains it, the others wait.
    """
    if not config.training.warm_start or data.start is not None:
        return data
    with wait_for_lock(name_lock(folder)):
        if not is_whole(folder, display):
            display.message(f"warm start: training {CLASSIFIER} first")
            train(classifier_config(config), _plain(data), folder, display, resume=True, truncate=True)
        elif folder.parent == find_cache(config.training.cache):
            display.message("warm start: reused from cache")
    return replace(data, start=folder / "model")


def _plain(data: TrainingData) -> TrainingData:
    return replace(drop_gold(data), augmented=(), notes=())
