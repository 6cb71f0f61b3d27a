"""A data set in memory: its splits, what a word is in it, and what was odd about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from rationalize.errors import DataError
from rationalize.text.words import PLAIN, WordRule
from rationalize.types import Example

_SPLIT_NAMES = {"val": "dev", "valid": "dev", "validation": "dev"}
_SPLIT_ORDER = ("train", "dev", "test")
KNOWN_SPLITS = frozenset({*_SPLIT_ORDER, "ood"})


@dataclass(frozen=True, repr=False)
class DataSet(Mapping[str, tuple[Example, ...]]):
    """Examples by split: `data["dev"]`, `"dev" in data`, `for split in data`.

    Attributes:
        name: What to call it: the name of its folder, archive or file.
        splits: Examples by split, train, dev and test first.
        notes: How often something odd was met that did not keep a row from being read.
        words: What a word is in its texts.
        path: Where it was read from; None: it was given in memory.
        known: Which of the data sets known by name it is, as `data get` has recorded it beside the files.
    """

    name: str
    splits: dict[str, tuple[Example, ...]]
    notes: dict[str, int] = field(default_factory=dict)
    words: WordRule = PLAIN
    path: str | None = field(default=None, compare=False)
    known: str | None = field(default=None, compare=False)

    def only(self, name: str) -> tuple[Example, ...]:
        """The split of that name, or the only one there is, whatever it is called."""
        return next(iter(self.splits.values())) if len(self) == 1 else self.split(name)

    def split(self, name: str) -> tuple[Example, ...]:
        """The examples of one split; val, valid and validation are other names of dev.

        Raises:
            DataError: If there is no such split.
        """
        if name not in self:
            raise DataError(f"{self.name}: no split {name!r}. It has {', '.join(self.splits)}.")
        return self.splits[split_name(name)]

    def list_examples(self) -> list[Example]:
        """List the examples of all splits."""
        return [example for examples in self.splits.values() for example in examples]

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels that occur, sorted."""
        return labels_of(self.list_examples())

    def __getitem__(self, name: str) -> tuple[Example, ...]:
        if name not in self:
            raise KeyError(name)
        return self.splits[split_name(name)]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and split_name(name) in self.splits

    def __iter__(self) -> Iterator[str]:
        return iter(self.splits)

    def __len__(self) -> int:
        return len(self.splits)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name} {len(examples)}" for name, examples in self.splits.items())
        labels = self.labels
        shown = ", ".join(labels[:5]) + (f" and {len(labels) - 5} more" if len(labels) > 5 else "")
        gold = sum(bool(example.rationale) for example in self.list_examples())
        return (
            f"DataSet({self.name!r}: {sizes}; labels {shown or 'none'}; {gold} with gold; {self.words} words)"
        )


def split_name(name: str) -> str:
    """The one name of a split that goes by several (val, valid, validation: dev)."""
    return _SPLIT_NAMES.get(name.lower(), name)


def eraser_split_name(name: str) -> str:
    """What ERASER calls a split: its dev is `val`."""
    return "val" if split_name(name) == "dev" else name


def split_rank(name: str) -> tuple[int, str]:
    """Sort key of split names: train, dev, test, then the others by name."""
    return (_SPLIT_ORDER.index(name) if name in _SPLIT_ORDER else len(_SPLIT_ORDER), name)


def labels_of(examples: Iterable[Example]) -> tuple[str, ...]:
    """All labels that occur, sorted."""
    return tuple(sorted({example.label for example in examples if example.label is not None}))
