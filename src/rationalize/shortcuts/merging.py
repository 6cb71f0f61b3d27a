"""Merge many overlapping n-grams into the few phrases that they are pieces of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from rationalize.shortcuts.candidates import Candidates
from rationalize.shortcuts.phrase_rules import PhraseRules, count_tests, is_associated, retest
from rationalize.shortcuts.phrases import Bools, Grams, Ints, Texts
from rationalize.text.words import MARKS
from rationalize.types import Span

SAME = 0.8  # share of occurrences in which a longer phrase, or a word beside it, makes it part of the same phrase
LONGEST_SIDE = 8  # words looked at on each side of a phrase
SLOT = "…"


@dataclass(frozen=True)
class Place:
    """One occurrence of a phrase.

    Attributes:
        position: Its position in the row of words.
        length: Its length there, in words.
    """

    position: int
    length: int


@dataclass(frozen=True)
class Merged:
    """A phrase with the n-grams that are pieces or variants of it.

    Attributes:
        index: The candidate that stands for it.
        pattern: Its words and the fixed words around it, `…` where any word may stand.
        fillers: The commonest words at each `…`.
        places: Its occurrences outside gold and other phrases, fixed words around it included.
        in_gold: Documents where it occurs inside gold.
        variants: Candidates that mostly overlap it.
    """

    index: int
    pattern: tuple[str, ...]
    fillers: tuple[tuple[str, ...], ...]
    places: tuple[Place, ...]
    in_gold: Ints
    variants: list[int] = field(default_factory=list)


class Merger:
    """Takes candidates, the strongest first, and separates phrases from pieces of phrases.

    A candidate that overlaps earlier phrases must also correlate with a label where it does not overlap them.
    """

    def __init__(
        self, texts: Texts, grams: dict[int, Grams], candidates: Candidates, labels: Ints, config: PhraseRules
    ) -> None:
        self.texts = texts
        self.grams = grams
        self.candidates = candidates
        self.labels = labels
        self.config = config
        self.found: list[Merged] = []
        self._owner = np.full(len(texts.words), -1)
        self._touched: dict[int, Bools] = {}

    def merge(self, indexes: Sequence[int]) -> list[Merged]:
        """Return the phrases among these candidates that are not pieces of an earlier one."""
        before = len(self.found)
        for index in indexes:
            places, owners = self._find_occurrences(index)
            if (owners < 0).all() or self._stands_alone(index, places[owners < 0]):
                self._take(self._grow(index, indexes))
            else:
                owner, _ = Counter(owners[owners >= 0].tolist()).most_common(1)[0]
                self.found[owner].variants.append(index)
        return self.found[before:]

    def find_documents(self, places: Ints) -> Ints:
        """Return the documents of positions."""
        return np.unique(self.texts.documents[places])

    def _find_occurrences(self, index: int) -> tuple[Ints, Ints]:
        """Find the positions of a candidate outside gold, and the phrase that each overlaps (-1: none)."""
        places = self._find_places(index, in_gold=False)
        return places, self._owner[places[:, None] + np.arange(int(self.candidates.lengths[index]))].max(1)

    def _find_places(self, index: int, *, in_gold: bool) -> Ints:
        length = int(self.candidates.lengths[index])
        if length not in self._touched:
            self._touched[length] = self.texts.touches_gold(length)
        there = (self.grams[length].ids == self.candidates.ids[index]) & (self._touched[length] == in_gold)
        return np.flatnonzero(there)

    def _find_in_gold(self, index: int) -> Ints:
        return self.find_documents(self._find_places(index, in_gold=True))

    def _find_free(self, index: int) -> Ints:
        places, owners = self._find_occurrences(index)
        return places[owners < 0]

    def _stands_alone(self, index: int, places: Ints) -> bool:
        documents = self.find_documents(places)
        if len(documents) < self.config.min_documents:
            return False
        tests = count_tests(self.candidates, self.labels)
        found = retest(documents, self._find_in_gold(index), self.labels, tests)
        return bool(is_associated(found, self.config)[0])

    def _grow(self, index: int, indexes: Iterable[int]) -> int:
        """Find the longest candidate that contains this one in nearly all of its documents."""
        least = SAME * len(self.find_documents(self._find_free(index)))
        longer = [
            other
            for other in indexes
            if self._contains(other, index) and len(self.find_documents(self._find_free(other))) >= least
        ]
        return max([index, *longer], key=lambda each: (self.candidates.lengths[each], -each))

    def _contains(self, other: int, index: int) -> bool:
        length = self.candidates.lengths[index]
        start = self.candidates.firsts[other]
        room = self.candidates.lengths[other] - length
        inside: Ints = self.grams[int(length)].ids[start : start + max(room, -1) + 1]
        return bool((inside == self.candidates.ids[index]).any())

    def _take(self, index: int) -> None:
        length = int(self.candidates.lengths[index])
        positions = self._find_free(index)
        left, left_fillers = self._find_side(positions, -1)
        right, right_fillers = self._find_side(positions + length - 1, 1)
        core = self.texts.spell(int(self.candidates.firsts[index]), length).split(" ")
        places = self._extend_places(positions, length, left, right)
        for place in places:
            self._owner[place.position : place.position + place.length] = len(self.found)
        fillers = (*left_fillers[::-1], *right_fillers)
        self.found.append(
            Merged(index, (*left[::-1], *core, *right), fillers, places, self._find_in_gold(index))
        )

    def _find_side(self, edges: Ints, step: int) -> tuple[list[str], list[tuple[str, ...]]]:
        """Find the fixed words next to a phrase, going outward, with at most one free word between two."""
        words: list[str] = []
        fillers: list[tuple[str, ...]] = []
        fixed = 0
        for distance in range(1, LONGEST_SIDE + 1):
            counts = Counter(self._list_words(edges, step * distance))
            word, count = counts.most_common(1)[0] if counts else ("", 0)
            if word and not word.strip(MARKS):
                break
            if count >= SAME * len(edges):
                words.append(word)
                fixed = len(words)
            elif words[-1:] == [SLOT] or not counts:
                break
            else:
                words.append(SLOT)
                fillers.append(tuple(word for word, _ in counts.most_common(5)))
        return words[:fixed], fillers[: words[:fixed].count(SLOT)]

    def _list_words(self, edges: Ints, distance: int) -> list[str]:
        """List the words at a distance from the edges, in the same sentence."""
        places = edges + distance
        edges = edges[(places >= 0) & (places < len(self.texts.words))]
        same = self.texts.sentences[edges] == self.texts.sentences[edges + distance]
        return [self.texts.vocabulary[word] for word in self.texts.words[(edges + distance)[same]]]

    def _extend_places(
        self, positions: Ints, length: int, left: list[str], right: list[str]
    ) -> tuple[Place, ...]:
        """Extend each occurrence by the fixed words of a side, if all of them are there."""
        with_left = self._check_fit(positions, left, -1) * len(left)
        with_right = self._check_fit(positions + length - 1, right, 1) * len(right)
        return tuple(
            Place(int(start - before), int(before + length + after))
            for start, before, after in zip(positions, with_left, with_right)
        )

    def _check_fit(self, edges: Ints, side: list[str], step: int) -> Bools:
        fits = np.ones(len(edges), dtype=bool)
        last = len(self.texts.words) - 1
        for distance, word in enumerate(side, 1):
            places = edges + step * distance
            inside = np.clip(places, 0, last)
            fits &= (places == inside) & (self.texts.sentences[inside] == self.texts.sentences[edges])
            if word != SLOT:
                fits &= self.texts.words[inside] == self._number(word)
        return fits

    def _number(self, word: str) -> int:
        return self.texts.vocabulary.index(word)


def find_spans(texts: Texts, places: Iterable[Place]) -> dict[int, list[Span]]:
    """Convert places to spans of their texts, by index of the document."""
    found: dict[int, list[Span]] = {}
    for place in places:
        document = int(texts.documents[place.position])
        found.setdefault(document, []).append(texts.get_span(place.position, place.length))
    return found
