"""All pieces of a document with their places, words and sentences, computed once per text in linear time."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rationalize.text.sentences import find_sentences
from rationalize.text.words import WHITE_SPACE, WordRule, find_word_bounds
from rationalize.types import Span

Ints = NDArray[np.int64]

_BLANK = np.zeros(128, dtype=bool)
"""Whether a character is white space, by its code; no other character is."""
_BLANK[[ord(each) for each in WHITE_SPACE]] = True


@dataclass(frozen=True, slots=True)
class PieceTable:
    """A document's pieces; every array has one entry per piece. See `Window` for what they mean."""

    ids: Ints
    starts: Ints
    ends: Ints
    words: Ints
    last_words: Ints
    sentences: Ints

    def __len__(self) -> int:
        return len(self.ids)


def tabulate_pieces(encoding: Any, text: str, rule: WordRule) -> tuple[tuple[Span, ...], PieceTable]:
    """Return the words of a text, and the table of its pieces as a Rust tokenizer cut them."""
    # One number after the other: a hundred thousand pairs at once would set off Python's garbage collection.
    numbers = chain.from_iterable(find_word_bounds(text, rule))
    bounds = np.fromiter(numbers, dtype=np.int64).reshape(-1, 2)
    places = np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2)
    starts, ends = _trim(text, places[:, 0], places[:, 1])
    first = last = np.full(len(starts), -1, dtype=np.int64)
    if len(bounds):
        # A piece of only white space belongs to the next word.
        first = np.minimum(np.searchsorted(bounds[:, 1], starts, side="right"), len(bounds) - 1)
        last = np.maximum(first, np.searchsorted(bounds[:, 0], ends, side="left") - 1)
    begins = np.array([sentence.start for sentence in find_sentences(text)], dtype=np.int64)
    sentences = np.maximum(np.searchsorted(begins, starts, side="right") - 1, 0)
    table = PieceTable(np.array(encoding.ids, dtype=np.int64), starts, ends, first, last, sentences)
    return tuple(map(Span, bounds[:, 0].tolist(), bounds[:, 1].tolist())), table


def _trim(text: str, starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """Trim white space: byte-level and SentencePiece tokenizers include the space before a word in its piece."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    blank = _BLANK[np.minimum(codes, len(_BLANK) - 1)]
    whole = ends > starts
    if not (blank[starts[whole]].any() or blank[ends[whole] - 1].any()):  # most tokenizers leave spaces out
        return starts, ends
    places = np.arange(len(text))
    following = np.append(np.where(blank, len(text), places), len(text))
    following = np.minimum.accumulate(following[::-1])[::-1]  # the next place that is not blank
    until = np.append(0, np.where(blank, 0, places + 1))
    until = np.maximum.accumulate(until)  # the end of the last one before
    first, last = following[starts], until[ends]
    empty = first >= ends
    return np.where(empty, starts, first), np.where(empty, starts, last)
