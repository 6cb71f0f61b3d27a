"""Read the data sets of a plan, each once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from rationalize.config import DataConfig, RunConfig
from rationalize.data.dataset import DataSet
from rationalize.data.planted import PlantedConfig, build_corpus
from rationalize.data.read_options import ReadOptions
from rationalize.data.source import read_data
from rationalize.data.splits import is_lone, split_lone
from rationalize.methods.registry import method_class
from rationalize.runs.auto_preset import DataLooks, look_at
from rationalize.runs.training_data import TrainingData, split_training_data
from rationalize.types import Example

PLANTED = "planted"


def read_source(path: str, seed: int, options: ReadOptions) -> DataSet:
    """Read a data set; the planted corpus depends on the seed."""
    return _read_data(path, _needed_seed(path, seed), options)


def look_at_source(path: str, seed: int, options: ReadOptions, split: str) -> DataLooks:
    """Return what `auto` decides on, found once for all methods."""
    return _look_at(path, _needed_seed(path, seed), options, split)


def _needed_seed(path: str, seed: int) -> int:
    return seed if path == PLANTED else 0


@lru_cache(maxsize=4)
def _read_data(path: str, seed: int, options: ReadOptions) -> DataSet:
    if path == PLANTED and not Path(path).exists():
        return build_corpus(PlantedConfig(seed=seed))
    data = read_data(path, options)
    return split_lone(data) if is_lone(data) else data


@lru_cache(maxsize=16)
def _look_at(path: str, seed: int, options: ReadOptions, split: str) -> DataLooks:
    data = _read_data(path, seed, options)
    return look_at(data.split(split), data.words)


@lru_cache(maxsize=4)
def read_other_split(path: str, split: str, options: ReadOptions) -> Sequence[Example]:
    """Read one split of a data set that cells are scored on but do not learn from."""
    return read_data(path, options, split).split(split)


@dataclass(frozen=True)
class _Wanted:
    """What training data depend on; cells of methods with the same supervision have the same."""

    path: str
    data: DataConfig
    seed: int
    supervision: str
    needs_marks: bool
    augments: bool
    config: RunConfig = field(compare=False)


def read_training_source(path: str, config: RunConfig) -> TrainingData:
    """Read a data set and take a run's training data from it, once for all runs that want the same."""
    about = method_class(config.method).about
    augments = config.augment.kind != "none"
    return _take_training_data(
        _Wanted(path, config.data, config.seed, about.supervision, about.needs_marks, augments, config)
    )


@lru_cache(maxsize=16)
def _take_training_data(wanted: _Wanted) -> TrainingData:
    options = ReadOptions.from_run(wanted.config)
    return split_training_data(wanted.config, read_source(wanted.path, wanted.seed, options))


def forget_sources() -> None:
    """Clear the cache: files may have changed."""
    _take_training_data.cache_clear()
    _read_data.cache_clear()
    _look_at.cache_clear()
    read_other_split.cache_clear()
