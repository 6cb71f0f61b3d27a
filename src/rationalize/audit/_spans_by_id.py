"""Spans by id of their example, in a few bytes each: a million of them would be large as objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from rationalize.shortcuts.merging import FoundSpans
from rationalize.shortcuts.word_corpus import hash_words
from rationalize.types import Span


class SpansById(Mapping[str, tuple[Span, ...]]):
    """A mapping from ids of examples to spans.

    Args:
        ids: The ids of the documents that have spans, in the order of the documents.
        spans: All spans, in the order of the documents.
    """

    def __init__(self, ids: Iterable[str], spans: FoundSpans) -> None:
        raw, ends, hashes = bytearray(), [0], []
        for id in ids:
            raw += id.encode("utf-8", "surrogatepass")
            ends.append(len(raw))
            hashes.append(int(hash_words([id])[0]))
        self._ids, self._ends = bytes(raw), np.array(ends, dtype=np.int64)
        self._order = np.argsort(np.array(hashes, dtype=np.int64), kind="stable")
        self._hashes = np.array(hashes, dtype=np.int64)[self._order]
        self._firsts = np.append(np.unique(spans.documents, return_index=True)[1], len(spans.documents))
        self._starts, self._stops = spans.starts.astype(np.int32), spans.ends.astype(np.int32)

    def __getitem__(self, id: str) -> tuple[Span, ...]:
        at = int(np.searchsorted(self._hashes, hash_words([id])[0]))
        if at < len(self._hashes) and self._get_id(int(self._order[at])) == id:
            return self._get_spans(int(self._order[at]))
        raise KeyError(id)

    def __iter__(self) -> Iterator[str]:
        return map(self._get_id, range(len(self)))

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __repr__(self) -> str:
        return f"SpansById({len(self)} examples)"

    def _get_id(self, index: int) -> str:
        return self._ids[self._ends[index] : self._ends[index + 1]].decode("utf-8", "surrogatepass")

    def _get_spans(self, index: int) -> tuple[Span, ...]:
        own = slice(self._firsts[index], self._firsts[index + 1])
        pairs = zip(self._starts[own].tolist(), self._stops[own].tolist(), strict=True)
        return tuple(Span(start, end) for start, end in pairs)
