"""Count the n-grams of a corpus, one length after the other.

An n-gram that is frequent consists of two shorter ones that are. So each pass over the shards looks at pairs of
frequent n-grams alone, adds up exact counts, and numbers those that are frequent for the next pass.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from rationalize.shortcuts._gram_table import GramTable
from rationalize.shortcuts._key_runs import look_up, merge_runs, save_counted_run, save_run
from rationalize.shortcuts.phrases import NONE, Bools, Ints, shift
from rationalize.shortcuts.shard_arrays import WHOLE, ShardArrays, load_texts
from rationalize.shortcuts.word_corpus import WordCorpus, hash_words


def count_grams(corpus: WordCorpus, longest: int, least: int) -> GramTable:
    """Count the n-grams of 1 to `longest` words that occur at least `least` times.

    Afterwards every shard has the ids of its n-grams by position, under the name that `name_ids` gives.
    """
    arrays, shards = corpus.arrays, corpus.shards
    _work(corpus, partial(_save_word_run, arrays))
    table = _number_words(corpus, *merge_runs(arrays, shards, least))
    _work(corpus, partial(_number_shard_words, arrays, len(table.words)))
    for length in range(2, longest + 1):
        _work(corpus, partial(_save_gram_run, arrays, length, table.size(length - 1)))
        table.keys[length], table.counts[length] = merge_runs(arrays, shards, least)
        arrays.save(WHOLE, "keys", table.keys[length])
        _work(corpus, partial(_number_shard, arrays, length, table.size(length - 1)))
    return table


def name_ids(length: int) -> str:
    """Return the name of the arrays that have the ids of n-grams by position; -1: none here, or a rare one."""
    return f"ids-{length}"


def find_inside(sentences: Ints, length: int) -> Bools:
    """Return the positions where so many words of one sentence follow."""
    inside: Bools = sentences == shift(sentences, length - 1)
    return inside


def join_ids(left: Ints, right: Ints, size: int, inside: Bools) -> Ints:
    """Combine two ids into one number, given how many there are of the right kind; -1 where either is, or outside."""
    keys = left.astype(np.int64) * max(size, 1) + right
    return np.where((left < 0) | (right < 0) | ~inside, NONE, keys)


def _work(corpus: WordCorpus, step: partial[None]) -> None:
    for _ in corpus.crew.map(step, corpus.shards):
        pass


def _save_word_run(arrays: ShardArrays, number: int) -> None:
    words = arrays.load(number, "words")
    hashes = hash_words(load_texts(arrays, number, "vocabulary")) if len(words) else np.zeros(0, np.int64)
    arrays.save(number, "hashes", hashes)
    order = np.argsort(hashes)
    counts = np.bincount(words, minlength=len(hashes))
    save_counted_run(arrays, number, hashes[order], counts[order])


def _number_words(corpus: WordCorpus, hashes: Ints, counts: Ints) -> GramTable:
    """Number the frequent words in the order of their first occurrence."""
    arrays = corpus.arrays
    firsts, words, seen = np.full(len(hashes), NONE), [""] * len(hashes), 0
    for number in range(corpus.shards):
        places = look_up(hashes, arrays.load(number, "hashes"))
        new = np.flatnonzero(places >= 0)
        new = new[firsts[places[new]] < 0]
        vocabulary = load_texts(arrays, number, "vocabulary") if len(new) else []
        firsts[places[new]] = seen + new
        for at in new:
            words[places[at]] = vocabulary[at]
        seen += len(places)
    order = np.argsort(firsts)
    numbers = np.empty(len(hashes), dtype=np.int64)
    numbers[order] = np.arange(len(hashes))
    arrays.save(WHOLE, "word-hashes", hashes)
    arrays.save(WHOLE, "word-numbers", numbers)
    return GramTable([words[place] for place in order], {1: counts[order]})


def _number_shard_words(arrays: ShardArrays, size: int, number: int) -> None:
    words = arrays.load(number, "words")
    ids = np.full(len(words), NONE)
    if size and len(words):
        places = look_up(arrays.load(WHOLE, "word-hashes"), arrays.load(number, "hashes"))
        numbers = np.where(places >= 0, arrays.load(WHOLE, "word-numbers")[places], NONE)
        ids = numbers[words]
    arrays.save(number, name_ids(1), ids.astype(np.int32))


def _find_keys(arrays: ShardArrays, length: int, size: int, number: int) -> Ints:
    shorter = arrays.load(number, name_ids(length - 1))
    inside = find_inside(arrays.load(number, "sentences"), length)
    return join_ids(shorter, shift(shorter, 1), size, inside)


def _save_gram_run(arrays: ShardArrays, length: int, size: int, number: int) -> None:
    save_run(arrays, number, _find_keys(arrays, length, size, number))


def _number_shard(arrays: ShardArrays, length: int, size: int, number: int) -> None:
    keys = _find_keys(arrays, length, size, number)
    there = np.flatnonzero(keys >= 0)
    ids = np.full(len(keys), NONE, dtype=np.int32)
    ids[there] = look_up(arrays.load(WHOLE, "keys"), keys[there])
    arrays.save(number, name_ids(length), ids)
