"""What a word is, by one of two rules that a data set chooses and a model remembers.

unicode     words, numbers, tags and emoji as Unicode's properties tell them; punctuation stands apart
whitespace  a run of characters without white space, so that a word of ours is a token of an ERASER document

By the second rule only the six ASCII white-space characters separate words (`a\u00a0b` is one). Text written mostly
without spaces (Chinese, Japanese, Thai …) would be one huge word by it; there each such character is a word of its
own, as it always is by the first rule.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from rationalize.text._unicode_words import UNSPACED, unicode_pattern
from rationalize.types import Span

WordRule = Literal["unicode", "whitespace"]
PLAIN: WordRule = "unicode"
"""The rule for texts of which nothing else is known."""

WHITE_SPACE = " \t\n\r\f\v"

MARKS = '.,;:!?…"“”。，、；：！？'
"""Do not count around a word; a word of nothing else is kept, but no phrase begins or ends with it."""

_WORD = re.compile(f"[^{WHITE_SPACE}]+")
_MARKS = r"\u0300-\u036f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u3099\u309a\ufe00-\ufe0f\U000e0100-\U000e01ef"
_UNSPACED_CHARACTER = re.compile(f"[{UNSPACED}]")
_FINE_WORD = re.compile(rf"[{UNSPACED}][{_MARKS}]*|[^{WHITE_SPACE}{UNSPACED}]+")


def word_bounds(text: str, words: WordRule) -> Iterator[tuple[int, int]]:
    """Start and end of every word of the text, in order."""
    if words == "unicode":
        return (match.span() for match in unicode_pattern().finditer(text))
    unspaced = len(_UNSPACED_CHARACTER.findall(text))
    letters = sum(1 for character in text if character.isalpha()) if unspaced else 0
    pattern = _FINE_WORD if unspaced * 2 > letters else _WORD
    return (match.span() for match in pattern.finditer(text))


def word_spans(text: str, words: WordRule = PLAIN) -> list[Span]:
    """Where every word of the text lies, in order."""
    return [Span(start, end) for start, end in word_bounds(text, words)]


def has_words(text: str) -> bool:
    """Whether there is anything to read: a word by either rule."""
    return next(word_bounds(text, "unicode"), None) is not None


def would_merge(left: str, right: str) -> bool:
    """Whether two words would read as one if nothing stood between them."""
    return len(word_spans(left[-1:] + right[:1], "unicode")) == 1


def words_in(words: Sequence[Span], span: Span) -> range:
    """Indexes of the words that share at least one character with the span."""
    if span.start >= span.end:
        return range(0)
    first = bisect_right(words, span.start, key=lambda word: word.end)
    last = bisect_left(words, span.end, key=lambda word: word.start)
    return range(first, max(first, last))


def word_mask(words: Sequence[Span], spans: Iterable[Span]) -> list[bool]:
    """For each word, whether any of the spans touches it."""
    mask = [False] * len(words)
    for span in spans:
        for index in words_in(words, span):
            mask[index] = True
    return mask


def runs(mask: Iterable[bool]) -> list[tuple[int, int]]:
    """Maximal runs of True as (start, end) index pairs, end-exclusive."""
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
    """The text spans covered by runs of selected words."""
    return tuple(Span(words[start].start, words[end - 1].end) for start, end in runs(mask))


def normalize_word(word: str) -> str:
    """A word as phrases are made of it."""
    lower = word.lower()
    return lower.strip(MARKS) or lower


def words_of(text: str, words: WordRule = PLAIN) -> list[str]:
    """The words of a text, as phrases are made of them."""
    return [normalize_word(text[start:end]) for start, end in word_bounds(text, words)]
