"""Record how a model was made: in its folder, and kept when the model is loaded and saved again."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rationalize.config import AugmentConfig, PresetUse, RunConfig, ShortcutsConfig, Strict, TrainingConfig
from rationalize.files import JsonObject
from rationalize.version import __version__

if TYPE_CHECKING:
    import torch

    from rationalize.runs.training_data import TrainingData


class DataFacts(Strict):
    """Facts about a model's training data."""

    name: str | None
    """The data set's name, if known."""
    n_train: int
    n_dev: int
    n_gold: int
    """Number of training examples whose gold rationale was used."""
    gold_share: float
    """Share of the training examples whose gold rationale was allowed to be used."""
    notes: tuple[str, ...]
    """Notes on the data for the user, in plain sentences."""
    fingerprint: str
    """SHA-256 of everything that training saw."""


class Provenance(Strict):
    """How a model was made."""

    seed: int
    data: DataFacts
    training: TrainingConfig
    shortcuts: ShortcutsConfig
    augment: AugmentConfig
    preset: PresetUse | None
    extended_from: tuple[int, ...]
    """Planned numbers of epochs before more were added. Each time, the learning rate rose again, so the run differs
    from one that was planned this long from the start."""
    dev: dict[str, Any]
    """The evaluation on dev."""
    warnings: tuple[str, ...] = ()
    """What was doubtful about the artifacts that it was trained with, in plain sentences."""
    package_version: str
    device: str
    platform: str


def describe_data(config: RunConfig, data: TrainingData) -> DataFacts:
    """Collect the facts about a run's data that its model keeps."""
    return DataFacts(
        name=config.data.name or data.name,
        n_train=len(data.train),
        n_dev=len(data.dev),
        n_gold=len(data.gold_ids),
        gold_share=config.data.gold_share,
        notes=data.notes,
        fingerprint=data.fingerprint(),
    )


def describe_run(
    config: RunConfig,
    data: DataFacts,
    dev: dict[str, Any],
    device: torch.device,
    extended_from: tuple[int, ...] = (),
    warnings: tuple[str, ...] = (),
) -> Provenance:
    """Describe how a run's model was made; leave out private paths: that of the cache, and where its teacher lies."""
    teacher = config.training.teacher
    hidden = {"cache": TrainingConfig().cache, "teacher": None if teacher is None else Path(teacher).name}
    return Provenance(
        seed=config.seed,
        data=data,
        training=config.training.model_copy(update=hidden),
        shortcuts=config.shortcuts,
        augment=config.augment,
        preset=config.preset,
        extended_from=extended_from,
        dev=dev,
        warnings=warnings,
        package_version=__version__,
        device=str(device),
        platform=platform.platform(),
    )


def describe_environment() -> JsonObject:
    """Describe the machine and the package versions."""
    from importlib.metadata import version

    import torch

    packages = ("torch", "transformers", "tokenizers", "numpy")
    return {
        "rationalize": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "threads": torch.get_num_threads(),
        **{name: version(name) for name in packages},
    }
