"""Turn examples into encoder inputs: word pieces with their character offsets, in overlapping windows.

Pieces map to text only through the fast tokenizer's character offsets, never through markers such as `##` or `▁`.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rationalize.text.sentences import find_sentences
from rationalize.text.words import PLAIN, WHITE_SPACE, WordRule, word_spans
from rationalize.types import Example, Span

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Window:
    """One encoder input. Every array has one entry per word piece.

    Attributes:
        input_ids: The pieces, special tokens included.
        token_types: 0 for the first text of a pair, 1 for the second.
        selectable: Document pieces. Everything else (special tokens, query) is always visible.
        starts: Start of the piece in the text (code points); 0 outside the document.
        ends: End of the piece; 0 outside the document.
        words: Index of the piece's first word in the text; -1 outside the document.
        sentences: Index of the piece's sentence in the text; -1 outside the document.
        last_words: Index of the piece's last word: in text without spaces, a piece may span several words.
        owned: Document pieces whose result comes from this window. A piece in an overlap belongs to the window
            with more context around it, so exactly one window owns each piece.
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

    def mark_pieces(self, spans: tuple[Span, ...]) -> Bools:
        """Return a mask of the document pieces that share a character with any of the spans."""
        mask = np.zeros(len(self), dtype=bool)
        for span in spans:
            if span.start < span.end:
                mask |= (self.starts < span.end) & (self.ends > span.start)
        return mask & self.selectable

    def pair_pieces_with_words(self) -> tuple[Ints, Ints]:
        """Return the indexes of pieces and of the words they overlap, one pair per position."""
        pieces = np.flatnonzero(self.words >= 0)
        counts = self.last_words[pieces] - self.words[pieces] + 1
        steps = np.arange(counts.sum()) - np.repeat(counts.cumsum() - counts, counts)
        pieces = np.repeat(pieces, counts)
        return pieces, self.words[pieces] + steps


@dataclass(frozen=True, slots=True)
class Encoded:
    """An example as encoder inputs: one window, or several that together cover the whole text.

    `cut_off` is the part of the text that no window reads; None unless the text was truncated.
    """

    example: Example
    words: tuple[Span, ...]
    windows: tuple[Window, ...]
    cut_off: Span | None

    @property
    def n_words_read(self) -> int:
        """Number of words read at least in part."""
        end = len(self.example.text) if self.cut_off is None else self.cut_off.start
        return bisect_left(self.words, end, key=lambda word: word.start)


class TextEncoder:
    """Cuts examples into windows, for one tokenizer, length and word rule."""

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
        """Encode one example; with `truncate`, keep only the first window."""
        query = self._shorten_query(example.query) if self.use_query and example.query else None
        rows, shared = self._tokenize(query, example.text)
        words = tuple(word_spans(example.text, self.words))
        kept = rows[:1] if truncate else rows
        windows = [self._make_window(row, query is not None, words, example.text) for row in kept]
        cut_off = None
        if len(kept) < len(rows):
            last = int(windows[0].ends.max())
            cut_off = Span(last, len(example.text)) if example.text[last:].strip(WHITE_SPACE) else None
        _assign_overlaps(windows, shared)
        return Encoded(example, words, tuple(windows), cut_off)

    def _tokenize(self, query: str | None, text: str) -> tuple[list[Any], int]:
        """Return the tokenizer's windows, and the number of pieces that neighbors share."""
        arguments: dict[str, Any] = {"text": text} if query is None else {"text": query, "text_pair": text}
        specials = self.tokenizer.num_special_tokens_to_add(pair=query is not None)
        room = self.max_tokens - specials - (len(self._find_offsets(query)) if query else 0)
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

    def _shorten_query(self, query: str) -> str:
        """Cut the query so that at least half of the window is left for the document."""
        limit = (self.max_tokens - self.tokenizer.num_special_tokens_to_add(pair=True)) // 2
        while len(offsets := self._find_offsets(query)) > limit:
            query = query[: min(offsets[limit][0], len(query) - 1)].rstrip()
        return query

    def _find_offsets(self, query: str) -> list[tuple[int, int]]:
        arguments = {
            "add_special_tokens": False,
            "split_special_tokens": True,
            "return_offsets_mapping": True,
        }
        offsets: list[tuple[int, int]] = self.tokenizer(query, **arguments)["offset_mapping"]
        return offsets

    def _make_window(self, row: Any, pair: bool, words: tuple[Span, ...], text: str) -> Window:
        selectable = np.array([sequence == int(pair) for sequence in row.sequence_ids], dtype=bool)
        places = [
            _trim(text, *place) if own else (0, 0) for own, place in zip(selectable, row.offsets, strict=True)
        ]
        starts, ends = np.array(places, dtype=np.int64).reshape(-1, 2).T
        document = np.flatnonzero(selectable)
        first, last = np.full((2, len(starts)), -1, dtype=np.int64)
        if words:
            # A piece of only white space belongs to the next word.
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
            sentences=_number_sentences(text, starts, document),
            last_words=last,
            owned=selectable.copy(),
        )


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Trim white space: byte-level and SentencePiece tokenizers include the space before a word in its piece."""
    piece = text[start:end]
    without_left = piece.lstrip(WHITE_SPACE)
    if not without_left:
        return start, start
    return end - len(without_left), start + len(piece.rstrip(WHITE_SPACE))


def _number_sentences(text: str, starts: Ints, document: Ints) -> Ints:
    found = np.full(len(starts), -1, dtype=np.int64)
    begins = [sentence.start for sentence in find_sentences(text)]
    found[document] = np.maximum(np.searchsorted(begins, starts[document], side="right") - 1, 0)
    return found


def _assign_overlaps(windows: list[Window], shared: int) -> None:
    """Assign each piece in an overlap to one window: the first half to the left one, the rest to the right one."""
    to_left = shared // 2
    for left, right in pairwise(windows):
        document = np.flatnonzero(left.selectable)
        left.owned[document[len(document) - (shared - to_left) :]] = False
        right.owned[np.flatnonzero(right.selectable)[:to_left]] = False
