"""Classes that Hugging Face `datasets` stores as numbers beside a list of their names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

ClassNames = Mapping[str, list[str]]
"""The names of the classes of each column that holds numbers of classes."""


def read_class_names(metadata: Mapping[bytes, bytes] | None) -> ClassNames:
    """Return the names that `datasets` wrote into a Parquet file; none if it did not write the file."""
    try:
        features = json.loads((metadata or {})[b"huggingface"])["info"]["features"]
        found = {str(name): feature.get("names") for name, feature in features.items() if _is_class(feature)}
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError):
        return {}  # what another program wrote under this key is not ours to judge
    return {name: names for name, names in found.items() if _is_names(names)}


def list_class_names(features: Mapping[str, Any] | None) -> ClassNames:
    """Return the names that the features of a `datasets.Dataset` have."""
    found = {name: getattr(feature, "names", None) for name, feature in (features or {}).items()}
    return {name: list(names) for name, names in found.items() if names and _is_names(list(names))}


def name_classes(item: dict[str, Any], names: ClassNames) -> dict[str, Any]:
    """Return the item with names in the place of numbers; a number without a name (-1: no label) becomes None."""
    named = {
        column: known[number] if 0 <= number < len(known) else None
        for column, known in names.items()
        if isinstance(number := item.get(column), int)
    }
    return item | named if named else item


def _is_class(feature: Any) -> bool:
    return isinstance(feature, dict) and feature.get("_type") == "ClassLabel"


def _is_names(names: Any) -> bool:
    return isinstance(names, list) and bool(names) and all(isinstance(name, str) for name in names)
