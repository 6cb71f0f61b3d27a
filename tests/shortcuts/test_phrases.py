from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rationalize.shortcuts.candidates import find_candidates
from rationalize.shortcuts.phrases import count_grams, measure_cohesion, read_texts
from rationalize.types import Example, Span
from searches import search

SENTENCES = st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=8), max_size=4)
CORPORA = st.lists(SENTENCES, min_size=1, max_size=4)


def examples_of(corpus):
    return [Example(str(i), "\n".join(" ".join(words) for words in text)) for i, text in enumerate(corpus)]


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
    texts = read_texts(examples_of(corpus), "whitespace")
    grams = count_grams(texts, 4, least)
    for length, own in grams.items():
        spelled = [tuple(texts.spell(place, length).split()) for place in own.find_firsts()]
        expected = {phrase: n for phrase, n in naive(corpus, length).items() if n >= least}
        assert dict(zip(spelled, own.counts.tolist(), strict=True)) == expected
        if length >= 3 and spelled:
            values = measure_cohesion(texts, grams, length).tolist()
            assert values == pytest.approx([naive_cohesion(corpus, phrase) for phrase in spelled])


@search(15)
@given(CORPORA)
def test_documents_are_counted_once(corpus):
    texts = read_texts(examples_of(corpus), "whitespace")
    found = find_candidates(texts, count_grams(texts, 3, 2), 3, 3, 2)
    counts = np.asarray(found.incidence.sum(0)).ravel().tolist()
    for place, count in zip(found.firsts, counts, strict=True):
        phrase = tuple(texts.spell(place, 3).split())
        assert count == sum(phrase in naive([text], 3) for text in corpus) >= 2


def test_a_phrase_is_lower_case_and_does_not_mind_marks_or_sentence_ends():
    texts = read_texts([Example("1", 'The Film, "Shown early." It flopped')] * 2, "whitespace")
    grams = count_grams(texts, 4, 2)
    spelled = {texts.spell(place, 4) for place in grams[4].find_firsts()}
    assert spelled == {"the film shown early"}
    assert texts.get_span(0, 4) == Span(0, 24)


def test_no_phrase_begins_or_ends_with_punctuation():
    texts = read_texts([Example("1", "so , we left early . and then")] * 3, "whitespace")
    found = find_candidates(texts, count_grams(texts, 4, 2), 3, 4, 2)
    spelled = {texts.spell(place, n) for place, n in zip(found.firsts, found.lengths, strict=True)}
    assert spelled == {"so , we", "so , we left", "we left early"}


def test_gold_occurrences_do_not_count_and_are_remembered():
    gold = Example("1", "it was dull today", rationale=(Span(3, 6),))
    free, unknown = Example("2", "it was dull today", rationale=()), Example("3", "it was dull today")
    texts = read_texts([gold, free, free, unknown], "whitespace")
    found = find_candidates(texts, count_grams(texts, 3, 2), 3, 3, 2)
    place = [texts.spell(each, 3) for each in found.firsts].index("it was dull")
    assert found.incidence[:, [place]].toarray().ravel().tolist() == [0, 1, 1, 1]
    assert (found.in_gold[place], found.annotated[place]) == (1, 3)


def test_scripts_without_spaces_have_phrases_too():
    texts = read_texts([Example("1", "今天天气很好。我们走了。")] * 2, "whitespace")
    found = find_candidates(texts, count_grams(texts, 4, 2), 4, 4, 2)
    spelled = {texts.spell(place, 4) for place in found.firsts}
    assert spelled == {"今 天 天 气", "天 天 气 很", "天 气 很 好", "我 们 走 了"}


@pytest.mark.parametrize("texts", [[""], ["", "a"], ["short", "short"]])
def test_texts_with_no_phrase(texts):
    read = read_texts([Example(str(i), text) for i, text in enumerate(texts)], "whitespace")
    assert len(find_candidates(read, count_grams(read, 8, 2), 3, 8, 2)) == 0
