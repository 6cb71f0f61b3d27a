"""Many texts as one row of words, in which phrases are looked for.

A phrase never crosses the end of a sentence, so sentences are numbered.
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
    """Texts as one row of words. All arrays have one entry per word.

    Attributes:
        words: Number of the word, lower case and without marks around it.
        documents: Index of its text.
        sentences: Number of its sentence; they grow from the first text to the last.
        starts: Where it begins in its text.
        ends: Where it ends there.
        gold: Whether it is in the gold rationale.
        vocabulary: The words by number.
    """

    words: Ints
    documents: Ints
    sentences: Ints
    starts: Ints
    ends: Ints
    gold: Bools
    vocabulary: Sequence[str]

    def get_span(self, position: int, length: int) -> Span:
        """Return the span of the words at a position in their text."""
        return Span(int(self.starts[position]), int(self.ends[position + length - 1]))

    def list_by_document(self, count: int) -> list[list[str]]:
        """List the words of every document, given how many there are."""
        ends = np.cumsum(np.bincount(self.documents, minlength=count))
        rows = np.split(self.words, ends[:-1])
        return [[self.vocabulary[word] for word in row] for row in rows]


def touch_gold(gold: Bools, length: int) -> Bools:
    """Return, for every position, whether the n-gram there shares a word with gold."""
    before = np.concatenate([[0], np.cumsum(gold)])
    last = np.minimum(np.arange(len(gold)) + length, len(gold))
    touched: Bools = before[last] > before[:-1]
    return touched


def read_texts(examples: Sequence[Example], rule: WordRule) -> Texts:
    """Put the words of all texts in a row."""
    numbers: dict[str, int] = {}
    parts = [_read(example, numbers, rule) for example in examples]
    sentences = np.cumsum([0, *(part.sentences.max(initial=-1) + 1 for part in parts)])

    def row(arrays: Iterable[NDArray[Any]], kind: type) -> Any:
        return np.concatenate([np.zeros(0, dtype=kind), *arrays])

    return Texts(
        words=row((part.words for part in parts), np.int64),
        documents=np.repeat(np.arange(len(parts)), [len(part.words) for part in parts]),
        sentences=row((part.sentences + before for part, before in zip(parts, sentences)), np.int64),
        starts=row((part.starts for part in parts), np.int64),
        ends=row((part.ends for part in parts), np.int64),
        gold=row((part.gold for part in parts), np.bool_),
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


def shift(values: Ints, by: int) -> Ints:
    """Shift values to the left; fill with -1."""
    return np.concatenate([values[by:], np.full(min(by, len(values)), NONE)])
