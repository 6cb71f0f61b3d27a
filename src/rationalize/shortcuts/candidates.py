"""The phrases to test: every n-gram that occurs in enough documents outside gold rationales."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rationalize.shortcuts.phrases import Bools, Floats, Grams, Ints, Texts, measure_cohesion
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
        present: The same, 1 where the phrase occurs at all.
    """

    lengths: Ints
    ids: Ints
    firsts: Ints
    cohesion: Floats
    in_gold: Ints
    annotated: Ints
    incidence: Any
    present: Any

    def __len__(self) -> int:
        return len(self.ids)

    def count_by_label(self, labels: Ints, rows: Ints | None = None) -> tuple[Ints, Ints]:
        """Count the documents with each phrase, outside gold and anywhere, among all documents or some rows.

        Both are by phrase and label (phrases, labels).
        """
        one_hot = np.eye(int(labels.max()) + 1, dtype=np.int64)[labels]
        chosen = slice(None) if rows is None else rows
        outside, anywhere = (
            np.asarray(each[chosen].T @ one_hot[chosen]) for each in (self.incidence, self.present)
        )
        return outside, anywhere

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
    """The candidates of one length; `outside` and `anywhere` are the pairs of document and candidate."""

    length: int
    ids: Ints
    firsts: Ints
    cohesion: Floats
    in_gold: Ints
    annotated: Ints
    outside: tuple[Ints, Ints]
    anywhere: tuple[Ints, Ints]


def _find_of_length(texts: Texts, grams: dict[int, Grams], length: int, min_documents: int) -> _Part:
    own = grams[length]
    touched = texts.touches_gold(length)
    ids, rows = _pair_with_documents(texts, own, ~touched)
    kept = (np.bincount(ids, minlength=len(own.counts)) >= min_documents) & _check_edges(texts, own, length)
    numbers = np.cumsum(kept) - 1
    chosen = np.flatnonzero(kept)
    all_ids, all_rows = _pair_with_documents(texts, own, np.ones_like(touched))
    return _Part(
        length=length,
        ids=chosen,
        firsts=own.find_firsts()[chosen],
        cohesion=(measure_cohesion(texts, grams, length) if length > 1 else np.ones(len(kept)))[chosen],
        in_gold=count_occurrences(own, touched)[chosen],
        annotated=count_occurrences(own, texts.annotated[texts.documents])[chosen],
        outside=(rows[kept[ids]], numbers[ids[kept[ids]]]),
        anywhere=(all_rows[kept[all_ids]], numbers[all_ids[kept[all_ids]]]),
    )


def _pair_with_documents(texts: Texts, grams: Grams, where: Bools) -> tuple[Ints, Ints]:
    """Return ids of n-grams and the documents that they occur in, each pair once."""
    count = max(len(texts.examples), 1)
    pairs = np.unique(_find_ids(grams, where) * count + texts.documents[_find_places(grams, where)])
    ids, rows = np.divmod(pairs, count)
    return ids, rows


def _find_places(grams: Grams, where: Bools) -> Ints:
    return np.flatnonzero((grams.ids >= 0) & where)


def _find_ids(grams: Grams, where: Bools) -> Ints:
    return grams.ids[_find_places(grams, where)]


def count_occurrences(grams: Grams, where: Bools) -> Ints:
    """Count, by id, the occurrences at some positions."""
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

    def fill(pairs: list[tuple[Ints, Ints]]) -> Any:
        rows = join(rows for rows, _ in pairs)
        columns = join(columns + offset for (_, columns), offset in zip(pairs, before))
        ones = np.ones(len(rows), dtype=np.int64)
        return csr_matrix((ones, (rows, columns)), shape=(documents, int(before[-1])))

    return Candidates(
        lengths=join(np.full(len(part.ids), part.length) for part in parts),
        ids=join(part.ids for part in parts),
        firsts=join(part.firsts for part in parts),
        cohesion=join(part.cohesion for part in parts),
        in_gold=join(part.in_gold for part in parts),
        annotated=join(part.annotated for part in parts),
        incidence=fill([part.outside for part in parts]),
        present=fill([part.anywhere for part in parts]),
    )
