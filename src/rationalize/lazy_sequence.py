"""A sequence whose items are made when they are asked for, and not kept."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeVar, overload

Item = TypeVar("Item", covariant=True)


class LazySequence(Sequence[Item]):
    """A sequence that needs to know only how to make one item, and how many there are."""

    @abstractmethod
    def make(self, index: int) -> Item:
        """Make the item at an index that is there."""

    @overload
    def __getitem__(self, index: int) -> Item: ...

    @overload
    def __getitem__(self, index: slice) -> list[Item]: ...

    def __getitem__(self, index: int | slice) -> Item | list[Item]:
        chosen = range(len(self))[index]
        return self.make(chosen) if isinstance(chosen, int) else [self.make(each) for each in chosen]
