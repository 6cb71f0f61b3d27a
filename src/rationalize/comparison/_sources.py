"""Read the data of cells, once, and check them before any training."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from rationalize.comparison._source_cache import (
    read_other_split,
    read_source,
    read_training_source,
)
from rationalize.comparison.cells import Cell
from rationalize.comparison.plan import Plan
from rationalize.data.dataset import DataSet
from rationalize.data.read_options import ReadOptions
from rationalize.data.seen_part import write_seen
from rationalize.data.splits import limit
from rationalize.errors import ConfigError, DataError
from rationalize.evaluation.transfer import map_labels
from rationalize.runs.training_data import TrainingData
from rationalize.types import Example

Splits = Mapping[str, Sequence[Example]]


def read_cell_data(plan: Plan, cell: Cell) -> DataSet:
    """Read a cell's data set; the planted corpus depends on the cell's seed."""
    options = ReadOptions.from_run(cell.config)
    return read_source(plan.data[cell.data], cell.config.seed, options)


def read_training_data(plan: Plan, cell: Cell) -> TrainingData:
    """Read a cell's training data."""
    return read_training_source(plan.data[cell.data], cell.config)


def read_scored_splits(plan: Plan, cell: Cell, labels: Sequence[str]) -> dict[str, Sequence[Example]]:
    """Read the splits to score a cell on: its own data's, then other data sets', with its own label names."""
    splits = read_cell_data(plan, cell)
    wanted = plan.splits or ["test", *(["ood"] if "ood" in splits else [])]
    missing = [name for name in wanted if name not in splits]
    if missing:
        raise DataError(
            f"{plan.data[cell.data]}: no split {', '.join(missing)} to score. It has: {', '.join(splits)}."
        )
    found = {name: _sample(splits[name], plan.score_limit) for name in wanted}
    check_labels(labels, found)
    for name, other in plan.transfer.items():
        if name in found:
            raise ConfigError(f"transfer {name!r}: {cell.data} has a split of this name. Choose another.")
        if other.learned_from in {None, cell.data}:
            examples = read_other_split(other.path, other.split, ReadOptions.from_config(other))
            found[name] = map_labels(
                _sample(examples, other.limit or plan.score_limit),
                labels,
                other.labels,
                f"transfer {name}, {other.path}",
                field=f"transfer.{name}.labels",
            )
    return found


def _sample(examples: Sequence[Example], n: int | None) -> Sequence[Example]:
    """Sample without the cell's seed, so that all cells are scored on the same texts."""
    return limit(examples, n, 0) if n else examples


def check_labels(labels: Sequence[str], splits: Splits) -> None:
    """Refuse labels that no training example has."""
    for name, examples in splits.items():
        unknown = sorted({str(each.label) for each in examples} - {*labels, "None"})
        if unknown:
            raise DataError(f"split {name}: no training example has the label(s) {', '.join(unknown)}.")


_hashed: dict[tuple[tuple[object, ...], ...], tuple[str, Splits]] = {}
"""Hashes by the names of splits and the identities of their examples, which are kept, so that these stay theirs."""
MOST_HASHED = 16


def hash_splits(splits: Splits) -> str:
    """Return the SHA-256 of the examples that a cell is scored on; cells that share examples share the work."""
    key = tuple((name, *map(id, examples)) for name, examples in splits.items())
    if key not in _hashed:
        if len(_hashed) >= MOST_HASHED:
            _hashed.clear()
        _hashed[key] = (_hash_splits(splits), splits)
    return _hashed[key][0]


def _hash_splits(splits: Splits) -> str:
    digest = hashlib.sha256()
    for name, examples in splits.items():
        digest.update(name.encode())
        for example in examples:
            digest.update(write_seen(example))
    return digest.hexdigest()
