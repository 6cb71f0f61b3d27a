"""A data set in memory: its splits, and what was odd about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from rationalize.errors import DataError
from rationalize.types import Example

_SPLIT_NAMES = {"dev": "val", "valid": "val", "validation": "val"}
_SPLIT_ORDER = ("train", "val", "test")


@dataclass(frozen=True)
class DataSet:
    """Examples by split.

    Attributes:
        name: What to call it: the name of its folder, archive or file.
        splits: Examples by split, train, val and test first.
        notes: How often something odd was met that did not keep a row from being read.
    """

    name: str
    splits: dict[str, tuple[Example, ...]]
    notes: dict[str, int] = field(default_factory=dict)

    def split(self, name: str) -> tuple[Example, ...]:
        """The examples of one split.

        Raises:
            DataError: If there is no such split.
        """
        if split_name(name) not in self.splits:
            raise DataError(f"{self.name}: no split {name!r}. It has {', '.join(self.splits)}.")
        return self.splits[split_name(name)]


def split_name(name: str) -> str:
    """The one name of a split that goes by several (dev, valid, validation: val)."""
    return _SPLIT_NAMES.get(name.lower(), name)


def split_rank(name: str) -> tuple[int, str]:
    """Sort key of split names: train, val, test, then the others by name."""
    return (_SPLIT_ORDER.index(name) if name in _SPLIT_ORDER else len(_SPLIT_ORDER), name)


def labels_of(examples: Iterable[Example]) -> tuple[str, ...]:
    """All labels that occur, sorted."""
    return tuple(sorted({example.label for example in examples if example.label is not None}))
