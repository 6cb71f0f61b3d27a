"""Where the words of a text lie, packed small enough to keep for thousands of documents."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from rationalize.text.words import WHITE_SPACE, word_spans
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

    def count(self, spans: Iterable[Span]) -> int:
        """How many words are touched by any of the spans."""
        marked = bytearray(len(self))
        for span in spans:
            touched = self.touching(span.start, span.end)
            marked[touched.start : touched.stop] = b"\1" * len(touched)
        return sum(marked)


def index_words(text: str) -> WordIndex:
    """Find the words of a text."""
    if not _PERHAPS_UNSPACED.search(text):
        return index_tokens(text)
    spans = word_spans(text)
    return WordIndex(array("I", (span.start for span in spans)), array("I", (span.end for span in spans)))


def index_tokens(text: str) -> WordIndex:
    """Find what white space separates, whatever the script: the tokens of an ERASER document."""
    starts, ends = array("I"), array("I")
    for match in _TOKEN.finditer(text):
        starts.append(match.start())
        ends.append(match.end())
    return WordIndex(starts, ends)
