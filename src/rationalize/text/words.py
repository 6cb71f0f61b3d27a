"""Split text into words by one of two rules; a data set chooses the rule and a model stores it.

unicode     words, numbers, tags and emoji by Unicode properties; punctuation marks are separate words
whitespace  runs of characters without white space, the tokens of ERASER documents

For `whitespace`, only the six ASCII white-space characters separate words (`a\u00a0b` is one word). Text mostly
without spaces (Chinese, Japanese, Thai …) would then be one huge word, so each such character is its own word, as it
always is for `unicode`.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from rationalize.text._unicode_words import UNSPACED, compile_unicode_pattern
from rationalize.types import Span

WordRule = Literal["unicode", "whitespace"]
PLAIN: WordRule = "unicode"
"""The default rule, for texts without a data set."""

WHITE_SPACE = " \t\n\r\f\v"

MARKS = '.,;:!?…"“”。，、；：！？'
"""Stripped from words in phrases; a word of marks alone is kept, but no phrase starts or ends with it."""

_WORD = re.compile(f"[^{WHITE_SPACE}]+")
_MARKS = r"\u0300-\u036f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u3099\u309a\ufe00-\ufe0f\U000e0100-\U000e01ef"
_UNSPACED_CHARACTER = re.compile(f"[{UNSPACED}]")
_FINE_WORD = re.compile(rf"[{UNSPACED}][{_MARKS}]*|[^{WHITE_SPACE}{UNSPACED}]+")


def find_word_bounds(text: str, words: WordRule) -> Iterator[tuple[int, int]]:
    """Yield every word's start and end, in order."""
    if words == "unicode":
        return (match.span() for match in compile_unicode_pattern().finditer(text))
    unspaced = len(_UNSPACED_CHARACTER.findall(text))
    letters = sum(1 for character in text if character.isalpha()) if unspaced else 0
    pattern = _FINE_WORD if unspaced * 2 > letters else _WORD
    return (match.span() for match in pattern.finditer(text))


def count_words(text: str) -> int:
    """Return the number of words by the rule `unicode`, for less than it takes to find where they are."""
    return len(compile_unicode_pattern().findall(text))


def word_spans(text: str, words: WordRule = PLAIN) -> list[Span]:
    """Return every word's span, in order."""
    return [Span(start, end) for start, end in find_word_bounds(text, words)]


def has_words(text: str) -> bool:
    """Return whether the text has any word, by either rule."""
    return next(find_word_bounds(text, "unicode"), None) is not None


def would_merge(left: str, right: str) -> bool:
    """Return whether two words would become one with nothing between them."""
    return len(word_spans(left[-1:] + right[:1], "unicode")) == 1


def find_words_in(words: Sequence[Span], span: Span) -> range:
    """Return the indexes of words that share at least one character with the span."""
    if span.start >= span.end:
        return range(0)
    first = bisect_right(words, span.start, key=lambda word: word.end)
    last = bisect_left(words, span.end, key=lambda word: word.start)
    return range(first, max(first, last))


def word_mask(words: Sequence[Span], spans: Iterable[Span]) -> list[bool]:
    """Return, for each word, whether any span shares a character with it."""
    mask = [False] * len(words)
    for span in spans:
        for index in find_words_in(words, span):
            mask[index] = True
    return mask


def find_runs(mask: Iterable[bool]) -> list[tuple[int, int]]:
    """Return maximal runs of True as (start, end) index pairs, end-exclusive."""
    found: list[tuple[int, int]] = []
    start: int | None = None
    index = -1
    for index, value in enumerate(mask):
        if value and start is None:
            start = index
        elif not value and start is not None:
            found.append((start, index))
            start = None
    if start is not None:
        found.append((start, index + 1))
    return found


def mask_spans(words: Sequence[Span], mask: Sequence[bool]) -> tuple[Span, ...]:
    """Return the text spans that runs of selected words cover."""
    return tuple(Span(words[start].start, words[end - 1].end) for start, end in find_runs(mask))


def normalize_word(word: str) -> str:
    """Normalize a word for phrases: lower case, without surrounding marks."""
    lower = word.lower()
    return lower.strip(MARKS) or lower


def split_words(text: str, words: WordRule = PLAIN) -> list[str]:
    """Split a text into normalized words."""
    return [normalize_word(text[start:end]) for start, end in find_word_bounds(text, words)]
