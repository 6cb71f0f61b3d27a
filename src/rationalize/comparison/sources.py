"""The data of a cell: read once, checked before anything is trained."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path

from rationalize.comparison.cells import Cell
from rationalize.comparison.plan import Plan
from rationalize.data.dataset import DataSet
from rationalize.data.planted import PlantedConfig, corpus_of
from rationalize.data.read_options import ReadOptions
from rationalize.data.source import read_data
from rationalize.data.splits import is_lone, limit, split_lone
from rationalize.errors import ConfigError, DataError
from rationalize.evaluation.transfer import map_labels
from rationalize.files import json_line
from rationalize.runs.training_data import TrainingData, split_training_data
from rationalize.types import Example

PLANTED = "planted"
Splits = Mapping[str, Sequence[Example]]


@lru_cache(maxsize=4)
def _data_at(path: str, seed: int, options: ReadOptions) -> DataSet:
    if path == PLANTED and not Path(path).exists():
        return corpus_of(PlantedConfig(seed=seed))
    data = read_data(path, options)
    return split_lone(data) if is_lone(data) else data


@lru_cache(maxsize=4)
def _split_at(path: str, split: str) -> Sequence[Example]:
    return read_data(path, ReadOptions(), split).split(split)


def forget_sources() -> None:
    """Forget data that were read before: files may have changed since."""
    _data_at.cache_clear()
    _split_at.cache_clear()


def cell_data(plan: Plan, cell: Cell) -> DataSet:
    """A cell's data set; the planted corpus is that of the cell's seed."""
    path = plan.data[cell.data]
    return _data_at(
        path, cell.config.seed if path == PLANTED else 0, ReadOptions.from_config(cell.config.data)
    )


def cell_training_data(plan: Plan, cell: Cell) -> TrainingData:
    """What a cell learns from."""
    return split_training_data(cell.config, cell_data(plan, cell))


def scored_splits(plan: Plan, cell: Cell, labels: Sequence[str]) -> dict[str, Sequence[Example]]:
    """What a cell is scored on: splits of its own data, then others', with the names that its labels have."""
    splits = cell_data(plan, cell)
    wanted = plan.splits or ["test", *(["ood"] if "ood" in splits else [])]
    missing = [name for name in wanted if name not in splits]
    if missing:
        raise DataError(
            f"{plan.data[cell.data]}: no split {', '.join(missing)} to score; it has {', '.join(splits)}."
        )
    found = {name: _sample(splits[name], plan.score_limit) for name in wanted}
    check_labels(labels, found)
    for name, other in plan.transfer.items():
        if name in found:
            raise ConfigError(f"transfer {name!r}: {cell.data} has a split of this name. Choose another.")
        if other.learned_from in {None, cell.data}:
            examples = _sample(_split_at(other.path, other.split), other.limit or plan.score_limit)
            found[name] = map_labels(
                examples,
                labels,
                other.labels,
                f"transfer {name}, {other.path}",
                field=f"transfer.{name}.labels",
            )
    return found


def _sample(examples: Sequence[Example], n: int | None) -> Sequence[Example]:
    """The sample does not depend on the cell's seed: all cells are scored on the same texts."""
    return limit(examples, n, 0) if n else examples


def check_labels(labels: Sequence[str], splits: Splits) -> None:
    """Refuse labels that no training example has."""
    for name, examples in splits.items():
        unknown = sorted({str(each.label) for each in examples} - {*labels, "None"})
        if unknown:
            raise DataError(f"split {name}: label(s) {', '.join(unknown)} are in no training example.")


def fingerprint(splits: Splits) -> str:
    """SHA-256 of what a cell is scored on."""
    digest = hashlib.sha256()
    for name, examples in splits.items():
        digest.update(name.encode())
        for example in examples:
            digest.update(json_line(asdict(example)).encode())
    return digest.hexdigest()
