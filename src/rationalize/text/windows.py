"""From an example to encoder inputs: word pieces with their place in the text, cut into overlapping windows.

All mapping goes through the fast tokenizer's character offsets; marks such as `##` or `▁` mean nothing here.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rationalize.text.sentences import sentence_spans
from rationalize.text.words import PLAIN, WHITE_SPACE, WordRule, word_spans
from rationalize.types import Example, Span

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Window:
    """One encoder input. All arrays have one entry per word piece.

    Attributes:
        input_ids: The pieces, specials included.
        token_types: 0 for the first text of a pair, 1 for the second.
        selectable: Pieces of the document. Everything else (specials, query) is always visible.
        starts: Where the piece begins in the text (code points); 0 outside the document.
        ends: Where it ends; equal to the start outside the document.
        words: Index of the piece's word in the text; -1 outside the document.
        sentences: Index of the piece's sentence in the text; -1 outside the document.
        last_words: The same but for text without spaces, where a piece may reach over several words: the last.
        owned: Document pieces that this window answers for: overlaps belong to the window that sees more
            context around them, so every piece of the text is owned once.
    """

    input_ids: Ints
    token_types: Ints
    selectable: Bools
    starts: Ints
    ends: Ints
    words: Ints
    sentences: Ints
    last_words: Ints
    owned: Bools

    def __len__(self) -> int:
        return len(self.input_ids)

    def touches(self, spans: tuple[Span, ...]) -> Bools:
        """Document pieces that share a character with any of the spans."""
        mask = np.zeros(len(self), dtype=bool)
        for span in spans:
            if span.start < span.end:
                mask |= (self.starts < span.end) & (self.ends > span.start)
        return mask & self.selectable

    def piece_words(self) -> tuple[Ints, Ints]:
        """Pieces and the words that they reach into, as pairs of indexes."""
        pieces = np.flatnonzero(self.words >= 0)
        counts = self.last_words[pieces] - self.words[pieces] + 1
        steps = np.arange(counts.sum()) - np.repeat(counts.cumsum() - counts, counts)
        pieces = np.repeat(pieces, counts)
        return pieces, self.words[pieces] + steps


@dataclass(frozen=True, slots=True)
class Encoded:
    """An example as encoder inputs: one window, or several that together cover the whole text.

    `cut_off` is the part of the text that no window reads (only when truncation was asked for).
    """

    example: Example
    words: tuple[Span, ...]
    windows: tuple[Window, ...]
    cut_off: Span | None

    @property
    def n_words_read(self) -> int:
        """How many of the words were read at least in part."""
        end = len(self.example.text) if self.cut_off is None else self.cut_off.start
        return bisect_left(self.words, end, key=lambda word: word.start)


class TextEncoder:
    """Cuts examples into windows for one tokenizer, one length and one rule of what a word is."""

    def __init__(
        self,
        tokenizer: Any,
        max_tokens: int,
        *,
        use_query: bool = True,
        overlap: int | None = None,
        words: WordRule = PLAIN,
    ) -> None:
        self.tokenizer = tokenizer
        self.max_tokens = max_tokens
        self.words: WordRule = words
        self.use_query = use_query
        self.overlap = max_tokens // 4 if overlap is None else overlap

    def encode(self, example: Example, *, truncate: bool) -> Encoded:
        """Word pieces of one example; with `truncate`, only the first window is kept."""
        query = self._short_query(example.query) if self.use_query and example.query else None
        rows, shared = self._tokenize(query, example.text)
        words = tuple(word_spans(example.text, self.words))
        kept = rows[:1] if truncate else rows
        windows = [self._window(row, query is not None, words, example.text) for row in kept]
        cut_off = None
        if len(kept) < len(rows):
            last = int(windows[0].ends.max())
            cut_off = Span(last, len(example.text)) if example.text[last:].strip(WHITE_SPACE) else None
        _share_out(windows, shared)
        return Encoded(example, words, tuple(windows), cut_off)

    def _tokenize(self, query: str | None, text: str) -> tuple[list[Any], int]:
        """The windows as the tokenizer cuts them, and how many pieces neighbors share."""
        arguments: dict[str, Any] = {"text": text} if query is None else {"text": query, "text_pair": text}
        specials = self.tokenizer.num_special_tokens_to_add(pair=query is not None)
        room = self.max_tokens - specials - (len(self._offsets(query)) if query else 0)
        shared = min(self.overlap, room // 2)
        encoding = self.tokenizer(
            **arguments,
            truncation="only_first" if query is None else "only_second",
            max_length=self.max_tokens,
            stride=shared,
            split_special_tokens=True,  # "[SEP]" in a text is text
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
            return_token_type_ids=True,
        )
        return list(encoding.encodings), shared

    def _short_query(self, query: str) -> str:
        """The query, cut so that at least half of the window is left for the document."""
        limit = (self.max_tokens - self.tokenizer.num_special_tokens_to_add(pair=True)) // 2
        while len(offsets := self._offsets(query)) > limit:
            query = query[: min(offsets[limit][0], len(query) - 1)].rstrip()
        return query

    def _offsets(self, query: str) -> list[tuple[int, int]]:
        arguments = {
            "add_special_tokens": False,
            "split_special_tokens": True,
            "return_offsets_mapping": True,
        }
        offsets: list[tuple[int, int]] = self.tokenizer(query, **arguments)["offset_mapping"]
        return offsets

    def _window(self, row: Any, pair: bool, words: tuple[Span, ...], text: str) -> Window:
        selectable = np.array([sequence == int(pair) for sequence in row.sequence_ids], dtype=bool)
        places = [
            _trim(text, *place) if own else (0, 0) for own, place in zip(selectable, row.offsets, strict=True)
        ]
        starts, ends = np.array(places, dtype=np.int64).reshape(-1, 2).T
        document = np.flatnonzero(selectable)
        first, last = np.full((2, len(starts)), -1, dtype=np.int64)
        if words:
            # A piece of mere white space goes with the word that follows it.
            found = np.searchsorted([word.end for word in words], starts[document], side="right")
            first[document] = np.minimum(found, len(words) - 1)
            reached = np.searchsorted([word.start for word in words], ends[document], side="left") - 1
            last[document] = np.maximum(first[document], reached)
        return Window(
            input_ids=np.array(row.ids, dtype=np.int64),
            token_types=np.array(row.type_ids, dtype=np.int64),
            selectable=selectable,
            starts=starts,
            ends=ends,
            words=first,
            sentences=_sentence_of(text, starts, document),
            last_words=last,
            owned=selectable.copy(),
        )


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Byte-level and SentencePiece tokenizers count the space before a word as part of the piece."""
    piece = text[start:end]
    without_left = piece.lstrip(WHITE_SPACE)
    if not without_left:
        return start, start
    return end - len(without_left), start + len(piece.rstrip(WHITE_SPACE))


def _sentence_of(text: str, starts: Ints, document: Ints) -> Ints:
    found = np.full(len(starts), -1, dtype=np.int64)
    begins = [sentence.start for sentence in sentence_spans(text)]
    found[document] = np.maximum(np.searchsorted(begins, starts[document], side="right") - 1, 0)
    return found


def _share_out(windows: list[Window], shared: int) -> None:
    """Give every piece in an overlap to one window: the first half to the left one, the rest to the right."""
    to_left = shared // 2
    for left, right in pairwise(windows):
        document = np.flatnonzero(left.selectable)
        left.owned[document[len(document) - (shared - to_left) :]] = False
        right.owned[np.flatnonzero(right.selectable)[:to_left]] = False
