"""A data set: its splits, its definition of a word, and what was unusual about it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Protocol

from rationalize.data.annotator_agreement import AnnotatorAgreement
from rationalize.errors import DataError
from rationalize.text.words import PLAIN, WordRule
from rationalize.types import Example

_SPLIT_NAMES = {"val": "dev", "valid": "dev", "validation": "dev"}
_SPLIT_ORDER = ("train", "dev", "test")
KNOWN_SPLITS = frozenset({*_SPLIT_ORDER, "ood"})


@dataclass(frozen=True, slots=True)
class SplitPeople:
    """Who annotated a split: how many rows each person did, and how far they agree (None: no row has two people)."""

    annotators: Mapping[str, int]
    agreement: AnnotatorAgreement | None


class ReadableData(Protocol):
    """A data set in memory, or one that is read anew whenever a split is iterated over."""

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def words(self) -> WordRule: ...  # noqa: D102

    @property
    def splits(self) -> Mapping[str, Collection[Example]]: ...  # noqa: D102

    @property
    def notes(self) -> Mapping[str, int]: ...  # noqa: D102

    @property
    def people(self) -> Mapping[str, SplitPeople]: ...  # noqa: D102


@dataclass(frozen=True, repr=False)
class DataSet(Mapping[str, Sequence[Example]]):
    """Examples by split: `data["dev"]`, `"dev" in data`, `for split in data`.

    Attributes:
        name: The name of its folder, archive or file.
        splits: Examples by split, train, dev and test first.
        notes: How often something unusual was found in rows that could be read.
        words: The definition of a word in its texts.
        path: Where it was read from; None: it was given in memory.
        known: Its name among the data sets known by name, as recorded by `data get`.
        people: By split, who annotated it, where its files have several people's marks or their names.
    """

    name: str
    splits: Mapping[str, Sequence[Example]]
    notes: dict[str, int] = field(default_factory=dict)
    words: WordRule = PLAIN
    path: str | None = field(default=None, compare=False)
    known: str | None = field(default=None, compare=False)
    people: Mapping[str, SplitPeople] = field(default_factory=dict, compare=False)

    def only(self, name: str) -> Sequence[Example]:
        """Return the split of that name, or the only split under any name."""
        return next(iter(self.splits.values())) if len(self) == 1 else self.split(name)

    def split(self, name: str) -> Sequence[Example]:
        """Return the examples of one split; val, valid and validation are other names of dev.

        Raises:
            DataError: If there is no such split.
        """
        if name not in self:
            raise DataError(f"{self.name}: no split {name!r}. It has {', '.join(self.splits)}.")
        return self.splits[normalize_split(name)]

    def list_examples(self) -> list[Example]:
        """List the examples of all splits."""
        return list(self.iterate_examples())

    def iterate_examples(self) -> Iterator[Example]:
        """Return an iterator over the examples of all splits."""
        return chain.from_iterable(self.splits.values())

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels that occur, sorted."""
        return list_labels(self.iterate_examples())

    def __getitem__(self, name: str) -> Sequence[Example]:
        if name not in self:
            raise KeyError(name)
        return self.splits[normalize_split(name)]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and normalize_split(name) in self.splits

    def __iter__(self) -> Iterator[str]:
        return iter(self.splits)

    def __len__(self) -> int:
        return len(self.splits)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name} {len(examples)}" for name, examples in self.splits.items())
        labels = self.labels
        shown = ", ".join(labels[:5]) + (f" and {len(labels) - 5} more" if len(labels) > 5 else "")
        gold = sum(bool(example.rationale) for example in self.iterate_examples())
        return (
            f"DataSet({self.name!r}: {sizes}; labels {shown or 'none'}; {gold} with gold; {self.words} words)"
        )


def normalize_split(name: str) -> str:
    """Return the standard name of a split (dev for val, valid and validation)."""
    return _SPLIT_NAMES.get(name.lower(), name)


def to_eraser_split(name: str) -> str:
    """Return ERASER's name of a split (val for dev)."""
    return "val" if normalize_split(name) == "dev" else name


def rank_split(name: str) -> tuple[int, str]:
    """Sort key of split names: train, dev, test, then the others by name."""
    return (_SPLIT_ORDER.index(name) if name in _SPLIT_ORDER else len(_SPLIT_ORDER), name)


def list_labels(examples: Iterable[Example]) -> tuple[str, ...]:
    """Return all labels that occur, sorted."""
    return tuple(sorted({example.label for example in examples if example.label is not None}))
