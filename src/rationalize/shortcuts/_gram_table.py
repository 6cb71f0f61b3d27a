"""All n-grams that occur often enough: how often, and of which words each consists.

An n-gram has a number among those of its length; they are sorted by their first n-1 words, then by their last n-1.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rationalize.shortcuts.phrases import Bools, Ints
from rationalize.text.words import MARKS


@dataclass(frozen=True)
class GramTable:
    """N-grams by length.

    Attributes:
        words: The 1-grams, in the order of their first occurrence.
        counts: For each length, the number of occurrences of every n-gram.
        keys: For each length from 2 on, every n-gram as one number: its first n-1 words and its last n-1 words.
    """

    words: list[str]
    counts: dict[int, Ints]
    keys: dict[int, Ints] = field(default_factory=dict)

    def size(self, length: int) -> int:
        """Return the number of n-grams of a length."""
        return len(self.counts[length])

    def cut(self, length: int, ids: Ints, start: int, stop: int) -> Ints:
        """Return the ids of a part of n-grams: of their words from `start` up to `stop`."""
        for own in range(length, length - start, -1):
            ids = self.keys[own][ids] % max(self.size(own - 1), 1)
        for own in range(length - start, stop - start, -1):
            ids = self.keys[own][ids] // max(self.size(own - 1), 1)
        return ids

    def list_words(self, length: int, index: int) -> tuple[str, ...]:
        """List the words of an n-gram."""
        one = np.array([index])
        return tuple(self.words[int(self.cut(length, one, at, at + 1)[0])] for at in range(length))

    def spell(self, length: int, index: int) -> str:
        """Return an n-gram as text."""
        return " ".join(self.list_words(length, index))

    def has_word_edges(self, length: int, ids: Ints) -> Bools:
        """Return which n-grams begin and end with a word that is more than punctuation."""
        word = np.array([bool(each.strip(MARKS)) for each in self.words], dtype=bool)
        both: Bools = word[self.cut(length, ids, 0, 1)] & word[self.cut(length, ids, length - 1, length)]
        return both
