"""The phrases to test: every n-gram that occurs in enough documents outside gold rationales."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from rationalize.shortcuts._gram_counting import find_inside, join_ids, name_ids
from rationalize.shortcuts._gram_table import GramTable
from rationalize.shortcuts._key_runs import look_up
from rationalize.shortcuts.phrases import Floats, Ints, shift, touch_gold
from rationalize.shortcuts.shard_arrays import WHOLE, ShardArrays
from rationalize.shortcuts.word_corpus import WordCorpus


@dataclass(frozen=True)
class Candidates:
    """Phrases to test. All arrays have one entry per phrase.

    Attributes:
        lengths: Number of words.
        ids: Number of the n-gram among those of its length.
        cohesion: How fixed it is, 0 to 1.
        in_gold: Number of occurrences that touch a gold rationale.
        annotated: Number of occurrences in documents with a gold rationale.
        outside: Documents with the phrase outside gold rationales, by phrase and label (phrases, labels).
        anywhere: The same for documents with the phrase at all.
    """

    lengths: Ints
    ids: Ints
    cohesion: Floats
    in_gold: Ints
    annotated: Ints
    outside: Ints
    anywhere: Ints

    def __len__(self) -> int:
        return len(self.ids)

    def gold_share(self) -> Floats:
        """Return the share of the occurrences in annotated documents that touch gold; 0 without any."""
        return self.in_gold / np.maximum(self.annotated, 1)


def find_candidates(
    corpus: WordCorpus,
    table: GramTable,
    lengths: range,
    min_documents: int,
    n_labels: int,
    gold: str = "gold",
) -> Candidates:
    """Find the phrases of some lengths in at least `min_documents` documents.

    Args:
        corpus: The documents, whose n-grams were counted.
        table: Their n-grams.
        lengths: Numbers of words.
        min_documents: Phrases in fewer documents are left out.
        n_labels: The number of labels.
        gold: Name of the arrays that have the words of gold rationales.
    """
    parts = [_find_of_length(corpus, table, each, min_documents, n_labels, gold) for each in lengths]
    names = Candidates.__dataclass_fields__
    return Candidates(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})


class _Counts(NamedTuple):
    """Of one shard, as sorted numbers with counts: pairs of id and label, and ids."""

    outside: tuple[Ints, Ints]
    anywhere: tuple[Ints, Ints]
    in_gold: tuple[Ints, Ints]
    annotated: tuple[Ints, Ints]


def _find_of_length(
    corpus: WordCorpus, table: GramTable, length: int, min_documents: int, n_labels: int, gold: str
) -> Candidates:
    size = table.size(length)
    outside, anywhere = (np.zeros(size * n_labels, dtype=np.int64) for _ in range(2))
    in_gold, annotated = (np.zeros(size, dtype=np.int64) for _ in range(2))
    step = partial(_count_shard, corpus.arrays, length, n_labels, gold)
    for counts in corpus.crew.map(step, corpus.shards):
        for total, (places, times) in zip((outside, anywhere, in_gold, annotated), counts, strict=True):
            total[places] += times
    by_label = outside.reshape(size, n_labels)
    enough = np.flatnonzero(by_label.sum(1) >= min_documents)
    chosen = enough[table.has_word_edges(length, enough)]
    return Candidates(
        lengths=np.full(len(chosen), length),
        ids=chosen,
        cohesion=measure_cohesion(corpus, table, length, chosen),
        in_gold=in_gold[chosen],
        annotated=annotated[chosen],
        outside=by_label[chosen],
        anywhere=anywhere.reshape(size, n_labels)[chosen],
    )


def _count_shard(arrays: ShardArrays, length: int, n_labels: int, gold: str, number: int) -> _Counts:
    places, ids, documents = load_places(arrays, length, number)
    labels, marked = arrays.load(number, "labels"), arrays.load(number, gold)
    has_gold = arrays.load(number, "annotated")[documents]

    def count_by_label(where: Ints) -> tuple[Ints, Ints]:
        pairs = np.unique(ids[where] * len(labels) + documents[where])
        own, rows = np.divmod(pairs, max(len(labels), 1))
        return np.unique(own * n_labels + labels[rows], return_counts=True)

    all_places = np.arange(len(places))
    if not marked.any():
        anywhere = count_by_label(all_places)
        none = np.zeros(0, dtype=np.int64)
        return _Counts(anywhere, anywhere, (none, none), np.unique(ids[has_gold], return_counts=True))
    touched = touch_gold(marked, length)[places]
    return _Counts(
        outside=count_by_label(np.flatnonzero(~touched)),
        anywhere=count_by_label(all_places),
        in_gold=np.unique(ids[touched], return_counts=True),
        annotated=np.unique(ids[has_gold], return_counts=True),
    )


def load_places(arrays: ShardArrays, length: int, number: int) -> tuple[Ints, Ints, Ints]:
    """Return the positions of frequent n-grams in a shard, their ids, and their documents."""
    ids = arrays.load(number, name_ids(length))
    places = np.flatnonzero(ids >= 0)
    return (
        places,
        ids[places].astype(np.int64),
        arrays.load(number, "documents")[places].astype(np.int64),
    )


def measure_cohesion(corpus: WordCorpus, table: GramTable, length: int, ids: Ints) -> Floats:
    """Measure how fixed n-grams are: of the places with all other words, the share that has the remaining word too,
    for the word with the lowest share. "waste of time" is fixed; in "a gripping evening" any word may replace
    "gripping".
    """
    if length == 1 or not len(ids):
        return np.ones(len(ids))
    own, shorter = table.counts[length][ids], table.counts[length - 1]
    before, after = (table.cut(length, ids, start, start + length - 1) for start in (0, 1))
    least: Floats = own / np.maximum(shorter[before], shorter[after])
    sizes = [table.size(each) for each in range(1, length - 1)]
    frames = []
    for free in range(1, length - 1):
        left, right = table.cut(length, ids, 0, free), table.cut(length, ids, free + 1, length)
        keys = join_ids(left, right, table.size(length - 1 - free), np.ones(len(ids), dtype=bool))
        known, inverse = np.unique(keys, return_inverse=True)
        corpus.arrays.save(WHOLE, f"frames-{free}", known)
        frames.append((inverse, np.zeros(len(known), dtype=np.int64)))
    for counts in corpus.crew.map(partial(_count_frames, corpus.arrays, length, sizes), corpus.shards):
        for (_, total), (places, times) in zip(frames, counts, strict=True):
            total[places] += times
    for inverse, total in frames:
        least = np.minimum(least, own / total[inverse])
    return least


def _count_frames(arrays: ShardArrays, length: int, sizes: list[int], number: int) -> list[tuple[Ints, Ints]]:
    """Count the occurrences of the wanted frames: n-grams of a length without one of their words."""
    inside = find_inside(arrays.load(number, "sentences"), length)
    ids = {each: arrays.load(number, name_ids(each)) for each in range(1, length - 1)}
    found = []
    for free in range(1, length - 1):
        rest = length - 1 - free
        keys = join_ids(ids[free], shift(ids[rest], free + 1), sizes[rest - 1], inside)
        places = look_up(arrays.load(WHOLE, f"frames-{free}"), keys[keys >= 0])
        found.append(np.unique(places[places >= 0], return_counts=True))
    return found
