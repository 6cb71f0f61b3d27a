"""Turn examples into encoder inputs: word pieces with their character offsets, in overlapping windows.

Pieces map to text only through the fast tokenizer's character offsets, never through markers such as `##` or `▁`.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rationalize.text._frame import Frame, Framing, copy_core
from rationalize.text._piece_table import PieceTable, tabulate_pieces
from rationalize.text.words import PLAIN, WHITE_SPACE, WordRule
from rationalize.types import Example, Span

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Bounds = tuple[int, int]
FEW_CHARS = 4_000
"""Characters that one thread cuts into pieces before others would have begun."""


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
        begins, stops = _join_overlapping(spans)
        if not len(begins):
            return np.zeros(len(self), dtype=bool)
        # Of spans in order and apart, only the first that ends after the piece's start can share a character with it.
        near = np.searchsorted(stops, self.starts, side="right")
        begins = np.append(begins, np.iinfo(np.int64).max)
        return (begins[near] < self.ends) & self.selectable

    def pair_pieces_with_words(self) -> tuple[Ints, Ints]:
        """Return the indexes of pieces and of the words they overlap, one pair per position."""
        pieces = np.flatnonzero(self.words >= 0)
        counts = self.last_words[pieces] - self.words[pieces] + 1
        if counts.sum() == len(pieces):  # a word each, as nearly always
            return pieces, self.words[pieces]
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
    """Cuts examples into windows, for one tokenizer, length and word rule.

    It never changes after it was made, and neither does what it asks, so that threads can share it.
    """

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
        self._core = copy_core(tokenizer)
        self._framing = Framing(self._core)

    @property
    def pad_id(self) -> int:
        """The piece that fills short rows."""
        return self.tokenizer.pad_token_id or 0

    def encode(self, example: Example, *, truncate: bool) -> Encoded:
        """Encode one example; with `truncate`, keep only the first window."""
        return self.encode_all([example], truncate=truncate)[0]

    def encode_all(self, examples: Sequence[Example], *, truncate: bool) -> list[Encoded]:
        """Encode examples; the tokenizer gets all of their texts at once."""
        queries = self._cut_queries({each.query for each in examples if self.use_query and each.query})
        cut = self._cut_into_pieces([each.text for each in examples])
        return [
            self._encode(example, encoding, queries.get(example.query or ""), truncate=truncate)
            for example, encoding in zip(examples, cut, strict=True)
        ]

    def _encode(
        self, example: Example, encoding: Any, query: Sequence[int] | None, *, truncate: bool
    ) -> Encoded:
        frame = self._surround(example, query)
        words, table = tabulate_pieces(encoding, example.text, self.words)
        return self._cut(example, words, table, frame, truncate=truncate)

    def tabulate(self, texts: Sequence[str]) -> list[PieceTable]:
        """Return the table of the pieces of every text."""
        cut = self._cut_into_pieces(texts)
        return [
            tabulate_pieces(encoding, text, self.words)[1] for encoding, text in zip(cut, texts, strict=True)
        ]

    def encode_table(self, example: Example, table: PieceTable, *, truncate: bool) -> Encoded:
        """Encode an example whose pieces are known; its words are left out."""
        query = None
        if self.use_query and example.query:
            query = self._cut_queries({example.query})[example.query]
        return self._cut(example, (), table, self._surround(example, query), truncate=truncate)

    def identify(self) -> str:
        """Return the SHA-256 of what decides how a text is cut into pieces and words."""
        return hashlib.sha256(f"{self.words} {self._core.to_str()}".encode()).hexdigest()

    def _cut_into_pieces(self, texts: Sequence[str]) -> list[Any]:
        """Return the tokenizer's encodings; of few characters without its threads, which take longer to wake up."""
        if sum(map(len, texts)) <= FEW_CHARS:
            return [self._core.encode(text, add_special_tokens=False) for text in texts]
        encodings: list[Any] = self._core.encode_batch(list(texts), add_special_tokens=False)
        return encodings

    def _surround(self, example: Example, query: Sequence[int] | None) -> Frame:
        if query is not None and not example.text:
            return self._framing.surround_nothing(query)
        return self._framing.surround(query)

    def _cut(
        self, example: Example, words: tuple[Span, ...], table: PieceTable, frame: Frame, *, truncate: bool
    ) -> Encoded:
        room = self.max_tokens - len(frame)
        shared = min(self.overlap, room // 2)
        bounds = _plan_windows(len(table), room, shared)
        kept = bounds[:1] if truncate else bounds
        owned = _share_out(kept, shared)
        windows = tuple(_lay_out(frame, table, *each) for each in zip(kept, owned, strict=True))
        cut_off = None
        if len(kept) < len(bounds):
            last = int(windows[0].ends.max())
            cut_off = Span(last, len(example.text)) if example.text[last:].strip(WHITE_SPACE) else None
        return Encoded(example, words, windows, cut_off)

    def _cut_queries(self, queries: Collection[str]) -> dict[str, list[int]]:
        """Return the pieces of every query, shortened so that half of the window is left for the document."""
        limit = (self.max_tokens - self._framing.count_specials(pair=True)) // 2
        found: dict[str, list[int]] = {}
        waiting = {query: query for query in sorted(queries)}
        while waiting:
            cut = self._cut_into_pieces(list(waiting.values()))
            too_long = {}
            for (query, left), encoding in zip(waiting.items(), cut, strict=True):
                if len(encoding.ids) > limit:
                    too_long[query] = left[: min(encoding.offsets[limit][0], len(left) - 1)].rstrip()
                else:
                    found[query] = encoding.ids
            waiting = too_long
        return found


def _plan_windows(n: int, room: int, shared: int) -> list[Bounds]:
    """Return where windows of a document of `n` pieces begin and end; the last ends with the document."""
    starts = range(0, max(1, n - shared), room - shared) if n > room else range(1)
    return [(start, min(start + room, n)) for start in starts]


def _share_out(bounds: Sequence[Bounds], shared: int) -> list[Bounds]:
    """Give each piece in an overlap to one window: the first half to the left one, the rest to the right one."""
    to_left = shared // 2
    last = len(bounds) - 1
    return [
        (start + (to_left if index > 0 else 0), stop - (shared - to_left if index < last else 0))
        for index, (start, stop) in enumerate(bounds)
    ]


def _lay_out(frame: Frame, table: PieceTable, bounds: Bounds, owned: Bounds) -> Window:
    """Put a part of the document into its frame."""
    (start, stop), first = bounds, len(frame.before)
    length = len(frame) + stop - start

    def place(values: Ints, outside: int) -> Ints:
        found = np.full(length, outside, dtype=np.int64)
        found[first : first + stop - start] = values[start:stop]
        return found

    def mark(start_here: int, stop_here: int) -> Bools:
        found = np.zeros(length, dtype=bool)
        found[first + start_here - start : first + stop_here - start] = True
        return found

    return Window(
        input_ids=np.concatenate([frame.before, table.ids[start:stop], frame.after]),
        token_types=np.concatenate(
            [
                frame.before_types,
                np.full(stop - start, frame.document_type, dtype=np.int64),
                frame.after_types,
            ]
        ),
        selectable=mark(start, stop),
        starts=place(table.starts, 0),
        ends=place(table.ends, 0),
        words=place(table.words, -1),
        sentences=place(table.sentences, -1),
        last_words=place(table.last_words, -1),
        owned=mark(*owned),
    )


def _join_overlapping(spans: Iterable[Span]) -> tuple[Ints, Ints]:
    """Return starts and ends of spans in order, with overlapping ones joined; those that only touch stay apart."""
    found: list[list[int]] = []
    for span in sorted(span for span in spans if span.start < span.end):
        if found and span.start < found[-1][1]:
            found[-1][1] = max(found[-1][1], span.end)
        else:
            found.append([span.start, span.end])
    starts, ends = np.array(found, dtype=np.int64).reshape(-1, 2).T
    return starts, ends
