"""An index of a text's words, small enough to keep for thousands of documents."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from rationalize.text.words import WHITE_SPACE, WordRule, find_word_bounds
from rationalize.types import Span

_TOKEN = re.compile(f"[^{WHITE_SPACE}]+")
# Without any of these, every script in the text spaces its words: words are tokens, found much faster.
_PERHAPS_UNSPACED = re.compile("[\u0e00-\u1fff\u3000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class WordIndex:
    """Word `i` is `text[starts[i]:ends[i]]`."""

    starts: array[int]
    ends: array[int]

    def __len__(self) -> int:
        return len(self.starts)

    def touching(self, start: int, end: int) -> range:
        """Indexes of the words that share a character with `text[start:end]`."""
        if start >= end:
            return range(0)
        first, last = bisect_right(self.ends, start), bisect_left(self.starts, end)
        return range(first, max(first, last))

    def inside(self, start: int, end: int) -> range:
        """Indexes of the words that lie in `text[start:end]` as a whole."""
        first, last = bisect_left(self.starts, start), bisect_right(self.ends, end)
        return range(first, max(first, last))

    def is_inside(self, at: int) -> bool:
        """Return whether an offset lies inside a word, not at its edges."""
        word = bisect_left(self.starts, at) - 1
        return word >= 0 and at < self.ends[word]

    def starts_at(self, at: int) -> bool:
        """Return whether a word begins at an offset."""
        word = bisect_left(self.starts, at)
        return word < len(self.starts) and self.starts[word] == at

    def ends_at(self, at: int) -> bool:
        """Return whether a word ends at an offset."""
        word = bisect_left(self.ends, at)
        return word < len(self.ends) and self.ends[word] == at

    def count(self, spans: Iterable[Span]) -> int:
        """Return the number of words that any of the spans touches."""
        marked = bytearray(len(self))
        for span in spans:
            touched = self.touching(span.start, span.end)
            marked[touched.start : touched.stop] = b"\1" * len(touched)
        return sum(marked)


def index_words(text: str, rule: WordRule) -> WordIndex:
    """Find the words of a text."""
    if rule == "whitespace" and not _PERHAPS_UNSPACED.search(text):
        return index_tokens(text)
    return _index(find_word_bounds(text, rule))


def index_tokens(text: str) -> WordIndex:
    """Find what white space separates, whatever the script: the tokens of an ERASER document."""
    return _index(match.span() for match in _TOKEN.finditer(text))


def _index(bounds: Iterable[tuple[int, int]]) -> WordIndex:
    starts, ends = array("I"), array("I")
    for start, end in bounds:
        starts.append(start)
        ends.append(end)
    return WordIndex(starts, ends)
