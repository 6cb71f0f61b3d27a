"""Warm start: train a plain classifier first, so that all encoders know the task before they select words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rationalize.config import DataConfig, RunConfig
from rationalize.locks import name_lock, wait_for_lock
from rationalize.runs._artifact_cache import find_cache, is_whole, make_key
from rationalize.runs._workspace import TrainFirst
from rationalize.runs.settings import identify, resolve_config
from rationalize.runs.training_data import TrainingData, drop_gold
from rationalize.training.loop import Display

CLASSIFIER = "full_text"


def make_classifier_config(config: RunConfig) -> RunConfig:
    """Make the config that trains the classifier: the same texts, labels only."""
    changed = {"epochs": config.training.warm_start, "warm_start": 0, "epoch_share": 1.0, "select_by": "auto"}
    changed |= {"keep": "model"}
    # The classifier reads no gold, so runs with different gold shares can share it.
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


def name_classifier(config: RunConfig, data: TrainingData) -> str | None:
    """Return the classifier's name in the cache, the same for all runs that share it; None: no warm start."""
    if not config.training.warm_start:
        return None
    return f"warm-{make_key(config, _strip_annotation(data), identify(make_classifier_config(config)))}"


def warm_up(
    config: RunConfig, data: TrainingData, folder: Path, display: Display, train: TrainFirst
) -> TrainingData:
    """Train the classifier in `folder`, unless it is there, and return the data that start from it.

    Without a warm start, the data stay unchanged. If several processes need the same classifier at once, the first
    one trains it and the others wait.
    """
    if not config.training.warm_start or data.start is not None:
        return data
    with wait_for_lock(name_lock(folder)):
        if not is_whole(folder, display):
            display.message(f"warm start: training {CLASSIFIER} first")
            train(make_classifier_config(config), _strip_annotation(data), folder, display, None)
        elif folder.parent == find_cache(config.training.cache):
            display.message("warm start: reused from cache")
    return replace(data, start=folder / "model")


def _strip_annotation(data: TrainingData) -> TrainingData:
    return replace(drop_gold(data), augmented=(), notes=())
