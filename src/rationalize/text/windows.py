"""From an example to encoder inputs: word pieces with their place in the text, cut into overlapping windows.

All mapping goes through the fast tokenizer's character offsets; marks such as `##` or `▁` mean nothing here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rationalize.text.words import word_spans, words_in
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
        owned: Document pieces that this window answers for: overlaps belong to the window that sees more
            context around them, so every piece of the text is owned once.
    """

    input_ids: Ints
    token_types: Ints
    selectable: Bools
    starts: Ints
    ends: Ints
    words: Ints
    owned: Bools

    def __len__(self) -> int:
        return len(self.input_ids)

    def touches(self, spans: tuple[Span, ...]) -> Bools:
        """Document pieces that share a character with any of the spans."""
        mask = np.zeros(len(self), dtype=bool)
        for span in spans:
            mask |= (self.starts < span.end) & (self.ends > span.start)
        return mask & self.selectable


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
        return len(self.words) if self.cut_off is None else words_in(self.words, self.cut_off).start


class TextEncoder:
    """Cuts examples into windows for one tokenizer and one length."""

    def __init__(self, tokenizer: Any, max_tokens: int, *, use_query: bool = True, overlap: int | None = None) -> None:
        self.tokenizer = tokenizer
        self.max_tokens = max_tokens
        self.use_query = use_query
        self.overlap = max_tokens // 4 if overlap is None else overlap

    def encode(self, example: Example, *, truncate: bool) -> Encoded:
        """Word pieces of one example; with `truncate`, only the first window is kept."""
        query = self._short_query(example.query) if self.use_query and example.query else None
        rows, shared = self._tokenize(query, example.text)
        words = tuple(word_spans(example.text))
        windows = [self._window(row, query is not None, words, example.text) for row in rows]
        cut_off = None
        if truncate and len(windows) > 1:
            windows = windows[:1]
            last = int(windows[0].ends.max())
            cut_off = Span(last, len(example.text)) if example.text[last:].strip() else None
        _share_out(windows, shared)
        return Encoded(example, words, tuple(windows), cut_off)

    def _tokenize(self, query: str | None, text: str) -> tuple[list[Any], int]:
        """The windows as the tokenizer cuts them, and how many pieces neighbours share."""
        arguments: dict[str, Any] = {"text": text} if query is None else {"text": query, "text_pair": text}
        specials = self.tokenizer.num_special_tokens_to_add(pair=query is not None)
        taken = 0 if query is None else len(self.tokenizer(query, add_special_tokens=False)["input_ids"])
        room = self.max_tokens - specials - taken
        shared = max(0, min(self.overlap, room - 1))
        encoding = self.tokenizer(
            **arguments,
            truncation="only_first" if query is None else "only_second",
            max_length=self.max_tokens,
            stride=shared,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
            return_token_type_ids=True,
        )
        return list(encoding.encodings), shared

    def _short_query(self, query: str) -> str:
        """The query, cut so that at least half of the window is left for the document."""
        offsets = self.tokenizer(query, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
        limit = self.max_tokens // 2
        return query if len(offsets) <= limit else query[: offsets[limit - 1][1]]

    def _window(self, row: Any, pair: bool, words: tuple[Span, ...], text: str) -> Window:
        selectable = np.array([sequence == int(pair) for sequence in row.sequence_ids], dtype=bool)
        starts, ends = np.array(row.offsets, dtype=np.int64).reshape(-1, 2).T.copy()
        starts[~selectable] = ends[~selectable] = 0
        document = np.flatnonzero(selectable)
        for at in document:
            if text[starts[at] : starts[at] + 1].isspace() or text[ends[at] - 1 : ends[at]].isspace():
                starts[at], ends[at] = _trim(text, int(starts[at]), int(ends[at]))
        indexes = np.full(len(starts), -1, dtype=np.int64)
        if words:
            # A piece of mere white space goes with the word that follows it.
            found = np.searchsorted([word.end for word in words], starts[document], side="right")
            indexes[document] = np.minimum(found, len(words) - 1)
        return Window(
            input_ids=np.array(row.ids, dtype=np.int64),
            token_types=np.array(row.type_ids, dtype=np.int64),
            selectable=selectable,
            starts=starts,
            ends=ends,
            words=indexes,
            owned=selectable.copy(),
        )


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Byte-level and SentencePiece tokenizers count the space before a word as part of the piece."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _share_out(windows: list[Window], shared: int) -> None:
    """Give every piece in an overlap to one window: the first half to the left one, the rest to the right."""
    to_left = shared // 2
    for left, right in zip(windows, windows[1:], strict=False):
        document = np.flatnonzero(left.selectable)
        left.owned[document[len(document) - (shared - to_left) :]] = False
        right.owned[np.flatnonzero(right.selectable)[:to_left]] = False
