"""The sentences in which some phrases occur: all that is needed to decide between these, and less than the corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from rationalize.shortcuts._gram_table import GramTable
from rationalize.shortcuts.candidates import Candidates, load_places
from rationalize.shortcuts.phrases import Bools, Ints, Texts, touch_gold
from rationalize.shortcuts.shard_arrays import WHOLE, ShardArrays
from rationalize.shortcuts.word_corpus import WordCorpus, load_shard

_ROWS = ("words", "documents", "sentences", "starts", "ends", "gold", "origins")
_PLACES = ("candidates", "positions", "touched")


@dataclass(frozen=True)
class Excerpt:
    """Sentences with candidates.

    Attributes:
        texts: Their words; documents are numbered as in the corpus.
        origins: Position of each word in the corpus.
    """

    texts: Texts
    origins: Ints
    _firsts: Ints
    _positions: Ints
    _touched: Bools

    def find_places(self, index: int, *, in_gold: bool) -> Ints:
        """Find the positions of a candidate inside gold, or outside."""
        own = slice(self._firsts[index], self._firsts[index + 1])
        return np.asarray(self._positions[own][self._touched[own] == in_gold], dtype=np.int64)


def cut_excerpt(
    corpus: WordCorpus, table: GramTable, candidates: Candidates, chosen: Sequence[int]
) -> Excerpt:
    """Cut out the sentences in which any chosen candidate occurs."""
    arrays, lengths = corpus.arrays, sorted(set(candidates.lengths[list(chosen)].tolist()))
    for length in lengths:
        numbers = np.full(table.size(length), -1)
        own = [index for index in chosen if candidates.lengths[index] == length]
        numbers[candidates.ids[own]] = own
        arrays.save(WHOLE, f"chosen-{length}", numbers)
    vocabulary: dict[str, int] = {}
    before = sentences = 0
    for number, words in enumerate(corpus.crew.map(partial(_cut_shard, arrays, lengths), corpus.shards)):
        known = np.array([vocabulary.setdefault(word, len(vocabulary)) for word in words], dtype=np.int32)
        rows = {name: arrays.load(number, f"excerpt-{name}") for name in (*_ROWS, *_PLACES)}
        rows["words"] = known[rows["words"]]
        rows["documents"] = rows["documents"] + np.int32(corpus.documents.bounds[number])
        rows["origins"] = rows["origins"].astype(np.int64) + corpus.positions[number]
        rows["positions"] = rows["positions"].astype(np.int64) + before
        rows["sentences"] = rows["sentences"] + np.int32(sentences)
        before += len(rows["words"])
        sentences = int(rows["sentences"].max(initial=sentences)) + 1
        for name, values in rows.items():
            arrays.save(number, f"excerpt-{name}", values)
    joined = {name: arrays.join(f"excerpt-{name}", corpus.shards) for name in (*_ROWS, *_PLACES)}
    order = np.argsort(joined["candidates"], kind="stable")
    owners = joined["candidates"][order]
    texts = Texts(**{name: joined[name] for name in _ROWS if name != "origins"}, vocabulary=list(vocabulary))
    return Excerpt(
        texts,
        joined["origins"],
        np.searchsorted(owners, np.arange(len(candidates) + 1)),
        joined["positions"][order],
        joined["touched"][order],
    )


def _cut_shard(arrays: ShardArrays, lengths: Sequence[int], number: int) -> list[str]:
    """Keep what belongs to the sentences with chosen candidates; return the words that these have."""
    texts = load_shard(arrays, number)
    found, places, touched = [], [], []
    for length in lengths:
        positions, ids, _ = load_places(arrays, length, number)
        own = arrays.load(WHOLE, f"chosen-{length}")[ids]
        found.append(own[own >= 0])
        places.append(positions[own >= 0])
        touched.append(touch_gold(texts.gold, length)[places[-1]])
    positions = np.concatenate([np.zeros(0, np.int64), *places])
    kept = np.isin(texts.sentences, texts.sentences[positions])
    numbers = np.cumsum(kept) - 1
    words, own_words = np.unique(texts.words[kept], return_inverse=True)
    rows = {name: getattr(texts, name)[kept] for name in _ROWS if name not in ("words", "origins")}
    rows |= {"words": own_words.astype(np.int32), "origins": np.flatnonzero(kept)}
    rows |= {
        "candidates": np.concatenate([np.zeros(0, np.int64), *found]).astype(np.int32),
        "positions": numbers[positions],
        "touched": np.concatenate([np.zeros(0, bool), *touched]),
    }
    for name, values in rows.items():
        arrays.save(number, f"excerpt-{name}", values)
    return [texts.vocabulary[word] for word in words]
