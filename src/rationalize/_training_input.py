"""Read what `fit` is given: a data set in any shape, or texts with their labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from rationalize.config import RunConfig
from rationalize.data.dataset import DataSet
from rationalize.data.read_options import ReadOptions
from rationalize.data.source import read_data


def read_training_input(
    config: RunConfig, data: Any, y: Iterable[Any] | None, dev: Any
) -> tuple[DataSet, dict[str, Any]]:
    """Read the training data, and return with it the given labels by name.

    Data without split names are all used for training; `dev`, where given, takes the place of the data's own.
    """
    options = ReadOptions.from_run(config)
    labels = [] if y is None else list(y)
    found = read_data(_name_split(data, "train") if y is None else {"train": (list(data), labels)}, options)
    named = (example.label for example in found["train"]) if y is not None else ()
    values = {str(label): value for label, value in zip(named, labels, strict=True)}
    if dev is None:
        return found, values
    chosen = read_data(_name_split(dev, "dev"), options).only("dev")
    return replace(found, splits={"train": found.only(config.data.train), "dev": chosen}), values


def _name_split(data: Any, name: str) -> Any:
    """Return data with split names as they are, others as this split."""
    return data if isinstance(data, str | Path | Mapping | DataSet) else {name: data}
