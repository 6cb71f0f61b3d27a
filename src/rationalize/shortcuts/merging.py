"""Merge many overlapping n-grams into the few phrases that they are pieces of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from rationalize.shortcuts._gram_table import GramTable
from rationalize.shortcuts.candidates import Candidates
from rationalize.shortcuts.excerpt import Excerpt
from rationalize.shortcuts.phrase_rules import PhraseRules, count_tests, is_associated, retest
from rationalize.shortcuts.phrases import Bools, Ints, Texts
from rationalize.text.words import MARKS
from rationalize.types import Span

SAME = 0.8  # share of occurrences in which a longer phrase, or a word beside it, makes it part of the same phrase
LONGEST_SIDE = 8  # words looked at on each side of a phrase
SLOT = "…"
SHOWN_FILLERS = 5


@dataclass(frozen=True)
class PhrasePlaces:
    """Occurrences of a phrase.

    Attributes:
        positions: Their positions in the row of words, in order.
        lengths: Their lengths there, in words.
    """

    positions: Ints
    lengths: Ints

    def __len__(self) -> int:
        return len(self.positions)


@dataclass(frozen=True)
class FoundSpans:
    """Where phrases are.

    Attributes:
        documents: The indexes of the documents.
        starts: Where the spans begin in the texts.
        ends: Where they end there.
    """

    documents: Ints
    starts: Ints
    ends: Ints

    def select(self, documents: Ints) -> dict[int, list[Span]]:
        """Return the spans of some documents, by index of the document."""
        found: dict[int, list[Span]] = {}
        for at in np.flatnonzero(np.isin(self.documents, documents)):
            span = Span(int(self.starts[at]), int(self.ends[at]))
            found.setdefault(int(self.documents[at]), []).append(span)
        return found


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
    places: PhrasePlaces
    in_gold: Ints
    variants: list[int] = field(default_factory=list)


class Merger:
    """Takes candidates, the strongest first, and separates phrases from pieces of phrases.

    A candidate that overlaps earlier phrases must also correlate with a label where it does not overlap them.
    """

    def __init__(
        self, excerpt: Excerpt, table: GramTable, candidates: Candidates, labels: Ints, config: PhraseRules
    ) -> None:
        self.excerpt = excerpt
        self.texts = excerpt.texts
        self.table = table
        self.candidates = candidates
        self.labels = labels
        self.config = config
        self.found: list[Merged] = []
        self._owner = np.full(len(excerpt.origins), -1, dtype=np.int32)

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
        places = self.excerpt.find_places(index, in_gold=False)
        return places, self._owner[places[:, None] + np.arange(int(self.candidates.lengths[index]))].max(1)

    def _find_in_gold(self, index: int) -> Ints:
        return self.find_documents(self.excerpt.find_places(index, in_gold=True))

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

    def _grow(self, index: int, indexes: Sequence[int]) -> int:
        """Find the longest candidate that contains this one in nearly all of its documents."""
        least = SAME * len(self.find_documents(self._find_free(index)))
        longer = [
            other
            for other in self._find_containing(index, np.asarray(indexes))
            if len(self.find_documents(self._find_free(other))) >= least
        ]
        return max([index, *longer], key=lambda each: (self.candidates.lengths[each], -each))

    def _find_containing(self, index: int, indexes: Ints) -> list[int]:
        """Find the candidates that contain this one."""
        length, wanted = int(self.candidates.lengths[index]), self.candidates.ids[index]
        found = []
        for whole in range(length, self.config.max_words + 1):
            own = indexes[self.candidates.lengths[indexes] == whole]
            ids = self.candidates.ids[own]
            starts = range(whole - length + 1)
            parts = [self.table.cut(whole, ids, start, start + length) == wanted for start in starts]
            found += own[np.any(parts, axis=0)].tolist()
        return found

    def _take(self, index: int) -> None:
        length = int(self.candidates.lengths[index])
        positions = self._find_free(index)
        left, left_fillers = self._find_side(positions, -1)
        right, right_fillers = self._find_side(positions + length - 1, 1)
        core = self.table.list_words(length, int(self.candidates.ids[index]))
        places = self._extend_places(positions, length, left, right)
        self._owner[expand_places(places)] = len(self.found)
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
            common = self._rank_words(edges, step * distance)
            word, count = common[0] if common else ("", 0)
            if word and not word.strip(MARKS):
                break
            if count >= SAME * len(edges):
                words.append(word)
                fixed = len(words)
            elif words[-1:] == [SLOT] or not common:
                break
            else:
                words.append(SLOT)
                fillers.append(tuple(word for word, _ in common))
        return words[:fixed], fillers[: words[:fixed].count(SLOT)]

    def _rank_words(self, edges: Ints, distance: int) -> list[tuple[str, int]]:
        """Return the commonest words at a distance from the edges, in the same sentence, with their counts."""
        places = edges + distance
        edges = edges[(places >= 0) & (places < len(self.texts.words))]
        same = self.texts.sentences[edges] == self.texts.sentences[edges + distance]
        words, firsts, counts = np.unique(
            self.texts.words[(edges + distance)[same]], return_index=True, return_counts=True
        )
        order = np.lexsort((firsts, -counts))[:SHOWN_FILLERS]
        return [(self.texts.vocabulary[words[at]], int(counts[at])) for at in order]

    def _extend_places(self, positions: Ints, length: int, left: list[str], right: list[str]) -> PhrasePlaces:
        """Extend each occurrence by the fixed words of a side, if all of them are there."""
        with_left = self._check_fit(positions, left, -1) * len(left)
        with_right = self._check_fit(positions + length - 1, right, 1) * len(right)
        return PhrasePlaces(positions - with_left, with_left + length + with_right)

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


def expand_places(places: PhrasePlaces) -> Ints:
    """Return the positions of all words of some places."""
    before = np.cumsum(places.lengths) - places.lengths
    found: Ints = np.repeat(places.positions - before, places.lengths)
    found += np.arange(len(found))
    return found


def find_spans(texts: Texts, places: PhrasePlaces) -> FoundSpans:
    """Convert places to spans of their texts."""
    return FoundSpans(
        texts.documents[places.positions].astype(np.int64),
        texts.starts[places.positions].astype(np.int64),
        texts.ends[places.positions + places.lengths - 1].astype(np.int64),
    )
