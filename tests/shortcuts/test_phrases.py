from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rationalize.shortcuts import _key_runs
from rationalize.shortcuts._gram_counting import count_grams
from rationalize.shortcuts.candidates import find_candidates, measure_cohesion
from rationalize.shortcuts.incidence import find_incidence
from rationalize.shortcuts.phrases import read_texts
from rationalize.shortcuts.shard_arrays import ShardArrays, ShardCrew
from rationalize.shortcuts.word_corpus import HeldDocuments, read_corpus
from rationalize.types import Example, Span
from searches import search

SENTENCES = st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=8), max_size=4)
CORPORA = st.lists(SENTENCES, min_size=1, max_size=4)


def examples_of(corpus):
    return [Example(str(i), "\n".join(" ".join(words) for words in text)) for i, text in enumerate(corpus)]


def read(examples, arrays=None):
    """The words of examples, every one in a shard of its own; all have the same label."""
    documents = HeldDocuments(examples, list(range(len(examples) + 1)))
    labels = np.zeros(len(examples), dtype=np.int64)
    return read_corpus(documents, labels, "whitespace", arrays or ShardArrays(), ShardCrew())


def search_candidates(corpus, longest, shortest, least=2):
    table = count_grams(corpus, longest, least)
    found = find_candidates(corpus, table, range(shortest, longest + 1), least, 1)
    return table, found, [table.spell(*each) for each in zip(found.lengths, found.ids, strict=True)]


def naive(corpus, length):
    """Every n-gram of a sentence, counted one by one."""
    return Counter(
        tuple(words[start : start + length])
        for text in corpus
        for words in text
        for start in range(len(words) - length + 1)
    )


def naive_cohesion(corpus, phrase):
    """Over the words of the phrase, the least share of places with all others in which it stands too."""
    counts = naive(corpus, len(phrase))
    shares = [counts[phrase] / naive(corpus, len(phrase) - 1)[part] for part in (phrase[1:], phrase[:-1])]
    for free in range(1, len(phrase) - 1):
        frame = [n for other, n in counts.items() if _but(other, free) == _but(phrase, free)]
        shares.append(counts[phrase] / sum(frame))
    return min(shares)


def _but(phrase, index):
    return phrase[:index] + phrase[index + 1 :]


@search(30)
@given(CORPORA, st.integers(1, 3))
def test_counts_and_cohesion_are_those_of_counting_by_hand(corpus, least):
    texts = read(examples_of(corpus))
    table = count_grams(texts, 4, least)
    for length in range(1, 5):
        spelled = [table.list_words(length, index) for index in range(table.size(length))]
        expected = {phrase: n for phrase, n in naive(corpus, length).items() if n >= least}
        assert dict(zip(spelled, table.counts[length].tolist(), strict=True)) == expected
        if length >= 3 and spelled:
            values = measure_cohesion(texts, table, length, np.arange(len(spelled))).tolist()
            assert values == pytest.approx([naive_cohesion(corpus, phrase) for phrase in spelled])


@search(15)
@given(CORPORA)
def test_documents_are_counted_once(corpus):
    texts = read(examples_of(corpus))
    table, found, spelled = search_candidates(texts, 3, 3)
    rows = np.arange(len(corpus))
    sums = np.asarray(find_incidence(texts, table, found, rows).outside.sum(0)).ravel()
    assert sums.tolist() == found.outside.sum(1).tolist()
    for phrase, count in zip(spelled, found.outside[:, 0], strict=True):
        assert count == sum(tuple(phrase.split()) in naive([text], 3) for text in corpus) >= 2


def test_runs_on_disk_are_merged_in_pieces(tmp_path, monkeypatch):
    corpus = [[[f"w{(index * step) % 7}" for step in range(12)]] for index in range(9)]
    whole = count_grams(read(examples_of(corpus)), 3, 2)
    monkeypatch.setattr(_key_runs, "MOST_MERGED", 5)
    pieces = count_grams(read(examples_of(corpus), ShardArrays(tmp_path)), 3, 2)
    assert pieces.words == whole.words
    for length in (1, 2, 3):
        assert pieces.counts[length].tolist() == whole.counts[length].tolist()
    assert pieces.keys[3].tolist() == whole.keys[3].tolist()


def test_a_phrase_is_lower_case_and_does_not_mind_marks_or_sentence_ends():
    examples = [Example("1", 'The Film, "Shown early." It flopped')] * 2
    _, _, spelled = search_candidates(read(examples), 4, 4)
    assert spelled == ["the film shown early"]
    assert read_texts(examples, "whitespace").get_span(0, 4) == Span(0, 24)


def test_no_phrase_begins_or_ends_with_punctuation():
    _, _, spelled = search_candidates(read([Example("1", "so , we left early . and then")] * 3), 4, 3)
    assert set(spelled) == {"so , we", "so , we left", "we left early"}


def test_gold_occurrences_do_not_count_and_are_remembered():
    gold = Example("1", "it was dull today", rationale=(Span(3, 6),))
    free, unknown = Example("2", "it was dull today", rationale=()), Example("3", "it was dull today")
    texts = read([gold, free, free, unknown])
    table, found, spelled = search_candidates(texts, 3, 3)
    place = spelled.index("it was dull")
    there = find_incidence(texts, table, found, np.arange(4))
    assert there.outside[:, [place]].toarray().ravel().tolist() == [0, 1, 1, 1]
    assert there.anywhere[:, [place]].toarray().ravel().tolist() == [1, 1, 1, 1]
    assert (found.in_gold[place], found.annotated[place]) == (1, 3)
    assert (found.outside[place].tolist(), found.anywhere[place].tolist()) == ([3], [4])


def test_scripts_without_spaces_have_phrases_too():
    _, _, spelled = search_candidates(read([Example("1", "今天天气很好。我们走了。")] * 2), 4, 4)
    assert set(spelled) == {"今 天 天 气", "天 天 气 很", "天 气 很 好", "我 们 走 了"}


@pytest.mark.parametrize("texts", [[""], ["", "a"], ["short", "short"]])
def test_texts_with_no_phrase(texts):
    _, found, _ = search_candidates(read([Example(str(i), text) for i, text in enumerate(texts)]), 8, 3)
    assert len(found) == 0
