"""Word n-grams of many texts at once: where each occurs, how often, and how fixed it is.

All texts are one long row of words; an n-gram has a number as its id, and the position of its first word. An n-gram
never crosses the end of a sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rationalize.text.sentences import find_sentences
from rationalize.text.words import WordRule, normalize_word, word_mask, word_spans
from rationalize.types import Example, Span

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

NONE = -1


@dataclass(frozen=True)
class Texts:
    """Texts as one row of words. All arrays but `annotated` have one entry per word.

    Attributes:
        examples: Where the words come from.
        words: Number of the word, lower case and without marks around it.
        documents: Index of its example.
        sentences: Index of its sentence, counted over all texts.
        starts: Where it begins in its text.
        ends: Where it ends there.
        gold: Whether it is in the gold rationale.
        annotated: For each example, whether it has a gold rationale.
        vocabulary: The words by number.
    """

    examples: tuple[Example, ...]
    words: Ints
    documents: Ints
    sentences: Ints
    starts: Ints
    ends: Ints
    gold: Bools
    annotated: Bools
    vocabulary: tuple[str, ...]

    def spell(self, position: int, length: int) -> str:
        """Return the n-gram at a position as text."""
        return " ".join(self.vocabulary[word] for word in self.words[position : position + length])

    def list_by_document(self) -> list[list[str]]:
        """List the words of every document."""
        ends = np.cumsum(np.bincount(self.documents, minlength=len(self.examples)))
        rows = np.split(self.words, ends[:-1])
        return [[self.vocabulary[word] for word in row] for row in rows]

    def get_span(self, position: int, length: int) -> Span:
        """Return the span of the n-gram at a position in its text."""
        return Span(int(self.starts[position]), int(self.ends[position + length - 1]))

    def touches_gold(self, length: int) -> Bools:
        """Return, for every position, whether the n-gram there shares a word with the gold rationale."""
        before = np.concatenate([[0], np.cumsum(self.gold)])
        last = np.minimum(np.arange(len(self.words)) + length, len(self.words))
        touched: Bools = before[last] > before[:-1]
        return touched


@dataclass(frozen=True)
class Grams:
    """The n-grams of one length: `ids` by position (-1: none here, or a rare one) and `counts` by id."""

    ids: Ints
    counts: Ints

    def find_firsts(self) -> Ints:
        """Return, by id, the position of the first occurrence."""
        ids, firsts = np.unique(self.ids, return_index=True)
        found: Ints = firsts[ids >= 0]
        return found


def read_texts(examples: Sequence[Example], rule: WordRule) -> Texts:
    """Put the words of all texts in a row."""
    numbers: dict[str, int] = {}
    parts = [_read(example, numbers, rule) for example in examples]
    sentences = np.cumsum([0, *(part.sentences.max(initial=-1) + 1 for part in parts)])

    def row(arrays: Iterable[NDArray[Any]], kind: type) -> Any:
        return np.concatenate([np.zeros(0, dtype=kind), *arrays])

    return Texts(
        examples=tuple(examples),
        words=row((part.words for part in parts), np.int64),
        documents=np.repeat(np.arange(len(parts)), [len(part.words) for part in parts]),
        sentences=row((part.sentences + before for part, before in zip(parts, sentences)), np.int64),
        starts=row((part.starts for part in parts), np.int64),
        ends=row((part.ends for part in parts), np.int64),
        gold=row((part.gold for part in parts), np.bool_),
        annotated=np.array([example.rationale is not None for example in examples], dtype=bool),
        vocabulary=tuple(numbers),
    )


class _Read(NamedTuple):
    """One text, as arrays with one entry per word."""

    words: Ints
    sentences: Ints
    starts: Ints
    ends: Ints
    gold: Bools


def _read(example: Example, numbers: dict[str, int], rule: WordRule) -> _Read:
    """Read a text; its new words get the next numbers."""
    text, spans = example.text, word_spans(example.text, rule)
    words = [numbers.setdefault(normalize_word(text[span.start : span.end]), len(numbers)) for span in spans]
    starts = np.array([span.start for span in spans], dtype=np.int64)
    ends = np.array([span.end for span in spans], dtype=np.int64)
    begins = [sentence.start for sentence in find_sentences(text)]
    sentences = np.searchsorted(begins, starts, side="right")
    gold = np.array(word_mask(spans, example.rationale or ()), dtype=bool)
    return _Read(np.array(words, dtype=np.int64), sentences, starts, ends, gold)


def count_grams(texts: Texts, longest: int, least: int) -> dict[int, Grams]:
    """Count the n-grams of 1 to `longest` words that occur at least `least` times, by length."""
    found = {1: _number(texts.words, least)}
    for length in range(2, longest + 1):
        shorter = found[length - 1].ids
        inside = texts.sentences == shift(texts.sentences, length - 1)
        found[length] = _number(np.where(inside, pair_numbers(shorter, shift(shorter, 1)), NONE), least)
    return found


def shift(values: Ints, by: int) -> Ints:
    """Shift values to the left; fill with -1."""
    return np.concatenate([values[by:], np.full(min(by, len(values)), NONE)])


def pair_numbers(left: Ints, right: Ints) -> Ints:
    """Combine two arrays of numbers into one number per pair; -1 where either is."""
    base = int(right.max(initial=0)) + 1
    return np.where((left < 0) | (right < 0), NONE, left * base + right)


def _number(keys: Ints, least: int) -> Grams:
    """Number the keys from 0 on, leaving out those that are rare."""
    there = keys >= 0
    _, inverse, counts = np.unique(keys[there], return_inverse=True, return_counts=True)
    kept = counts >= least
    ids = np.full(len(keys), NONE, dtype=np.int64)
    ids[there] = np.where(kept, np.cumsum(kept) - 1, NONE)[inverse]
    return Grams(ids, counts[kept])


def measure_cohesion(texts: Texts, grams: dict[int, Grams], length: int) -> Floats:
    """Measure, by id, how fixed an n-gram is: of the places with all its other words, the share that has the
    remaining word too, for the word with the lowest share. "waste of time" is fixed; in "a gripping evening" any
    word may replace "gripping".
    """
    own, shorter = grams[length], grams[length - 1]
    first = own.find_firsts()
    least = own.counts / np.maximum(
        shorter.counts[shorter.ids[first]], shorter.counts[shorter.ids[first + 1]]
    )
    inside = texts.sentences == shift(texts.sentences, length - 1)
    for free in range(1, length - 1):
        frames = pair_numbers(grams[free].ids, shift(grams[length - 1 - free].ids, free + 1))
        frame = _number(np.where(inside, frames, NONE), 1)
        least = np.minimum(least, own.counts / frame.counts[frame.ids[first]])
    return least
