"""Measure how much gold is lost when texts are cut at an encoder's maximum length."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from rationalize.data._word_index import index_words
from rationalize.text.words import WordRule
from rationalize.types import Example, Span

Pieces = Callable[[str], list[tuple[int, int]]]
"""Where the word pieces of a text lie, special tokens left out."""

_CACHED = 1024


@dataclass(frozen=True, slots=True)
class Truncation:
    """What a cut at `max_tokens` word pieces costs.

    Attributes:
        max_tokens: Word pieces that fit, special tokens and query included.
        rows_cut: Examples that do not fit.
        gold_words: Gold words in all examples.
        gold_words_lost: Gold words entirely after the cut.
        rows_without_gold_left: Examples with gold, but none before the cut.
    """

    max_tokens: int
    rows_cut: int
    gold_words: int
    gold_words_lost: int
    rows_without_gold_left: int


def measure_truncation(
    examples: Iterable[Example], pieces: Pieces, max_tokens: int, rule: WordRule
) -> Truncation:
    """Count what lies behind the cut when each text is read from its start."""
    pieces_of = lru_cache(maxsize=_CACHED)(lambda text: tuple(end for _, end in pieces(text)))
    find_words = lru_cache(maxsize=_CACHED)(lambda text: index_words(text, rule))
    rows_cut = gold = lost = emptied = 0
    for example in examples:
        room = max_tokens - (2 if example.query is None else 3 + len(pieces_of(example.query)))
        ends = pieces_of(example.text)
        if len(ends) > room:
            rows_cut += 1
        if not example.rationale:
            continue
        words = find_words(example.text)
        marked = words.count(example.rationale)
        gold += marked
        if len(ends) > room:
            cut = ends[room - 1] if room > 0 else 0
            whole = (Span(span.start, min(span.end, cut)) for span in example.rationale)
            left = words.count(span for span in whole if span.start < span.end)
            lost += marked - left
            emptied += left == 0
    return Truncation(max_tokens, rows_cut, gold, lost, emptied)
