"""The phrases to test: every n-gram that occurs in enough documents outside gold rationales."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rationalize.audit._phrases import Bools, Floats, Grams, Ints, Texts, measure_cohesion
from rationalize.text.words import MARKS


@dataclass(frozen=True)
class Candidates:
    """Phrases to test. All arrays have one entry per phrase.

    Attributes:
        lengths: Number of words.
        ids: Number of the n-gram among those of its length.
        firsts: Position of its first occurrence.
        cohesion: How fixed it is, 0 to 1.
        in_gold: Number of occurrences that touch a gold rationale.
        annotated: Number of occurrences in documents with a gold rationale.
        incidence: (documents, phrases), sparse: 1 where the phrase occurs outside the gold rationale.
    """

    lengths: Ints
    ids: Ints
    firsts: Ints
    cohesion: Floats
    in_gold: Ints
    annotated: Ints
    incidence: Any

    def __len__(self) -> int:
        return len(self.ids)

    def count_by_label(self, labels: Ints, rows: Ints | None = None) -> Ints:
        """Count the documents with each phrase, by label (phrases, labels), among all documents or some rows."""
        one_hot = np.eye(int(labels.max()) + 1, dtype=np.int64)[labels]
        chosen = slice(None) if rows is None else rows
        counts: Ints = np.asarray(self.incidence[chosen].T @ one_hot[chosen])
        return counts

    def gold_share(self) -> Floats:
        """Return the share of the occurrences in annotated documents that touch gold; 0 without any."""
        return self.in_gold / np.maximum(self.annotated, 1)


def find_candidates(
    texts: Texts, grams: dict[int, Grams], shortest: int, longest: int, min_documents: int
) -> Candidates:
    """Find the phrases of `shortest` to `longest` words in at least `min_documents` documents."""
    parts = [
        _find_of_length(texts, grams, length, min_documents)
        for length in range(shortest, longest + 1)
        if len(grams[length].counts)
    ]
    return _join_parts(parts, len(texts.examples))


@dataclass(frozen=True)
class _Part:
    """The candidates of one length; `rows` and `columns` are the pairs of document and candidate."""

    length: int
    ids: Ints
    firsts: Ints
    cohesion: Floats
    in_gold: Ints
    annotated: Ints
    rows: Ints
    columns: Ints


def _find_of_length(texts: Texts, grams: dict[int, Grams], length: int, min_documents: int) -> _Part:
    own = grams[length]
    touched = texts.touches_gold(length)
    pairs = np.unique(
        _find_ids(own, ~touched) * len(texts.examples) + texts.documents[_find_places(own, ~touched)]
    )
    ids, rows = np.divmod(pairs, len(texts.examples))
    kept = (np.bincount(ids, minlength=len(own.counts)) >= min_documents) & _check_edges(texts, own, length)
    numbers = np.cumsum(kept) - 1
    chosen = np.flatnonzero(kept)
    return _Part(
        length=length,
        ids=chosen,
        firsts=own.find_firsts()[chosen],
        cohesion=measure_cohesion(texts, grams, length)[chosen],
        in_gold=_count(own, touched)[chosen],
        annotated=_count(own, texts.annotated[texts.documents])[chosen],
        rows=rows[kept[ids]],
        columns=numbers[ids[kept[ids]]],
    )


def _find_places(grams: Grams, where: Bools) -> Ints:
    return np.flatnonzero((grams.ids >= 0) & where)


def _find_ids(grams: Grams, where: Bools) -> Ints:
    return grams.ids[_find_places(grams, where)]


def _count(grams: Grams, where: Bools) -> Ints:
    return np.bincount(_find_ids(grams, where), minlength=len(grams.counts))


def _check_edges(texts: Texts, grams: Grams, length: int) -> Bools:
    """Return, by id, whether the n-gram begins and ends with a word that is more than punctuation."""
    word = np.array([bool(each.strip(MARKS)) for each in texts.vocabulary], dtype=bool)
    first = grams.find_firsts()
    both: Bools = word[texts.words[first]] & word[texts.words[first + length - 1]]
    return both


def _join_parts(parts: list[_Part], documents: int) -> Candidates:
    from scipy.sparse import csr_matrix

    def join(arrays: Iterable[Any]) -> Any:
        return np.concatenate([np.zeros(0, dtype=np.int64), *arrays])

    before = np.cumsum([0, *(len(part.ids) for part in parts)])
    rows = join(part.rows for part in parts)
    columns = join(part.columns + offset for part, offset in zip(parts, before))
    ones = np.ones(len(rows), dtype=np.int64)
    return Candidates(
        lengths=join(np.full(len(part.ids), part.length) for part in parts),
        ids=join(part.ids for part in parts),
        firsts=join(part.firsts for part in parts),
        cohesion=join(part.cohesion for part in parts),
        in_gold=join(part.in_gold for part in parts),
        annotated=join(part.annotated for part in parts),
        incidence=csr_matrix((ones, (rows, columns)), shape=(documents, int(before[-1]))),
    )
