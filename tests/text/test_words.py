from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rationalize.text.words import mask_spans, runs, word_mask, word_spans, words_in
from rationalize.types import Span

WHITE_SPACE = " \t\n\r\f\v"
NASTY = "aé ,.\t\r\n\v\f\u00a0\u2028\u3000日本かไทยกำ\u0301\u3099👍🏽👧\u200d\ufe0f\x00\U00020000"
alphabet = st.sampled_from(NASTY) | st.characters()
texts = st.text(alphabet, max_size=60)


def words_of(text):
    return [text[span.start : span.end] for span in word_spans(text)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        (" \t\r\n\v\f", []),
        ("one two", ["one", "two"]),
        ("a\r\nb\n\nc", ["a", "b", "c"]),
        ("a\u00a0b c", ["a\u00a0b", "c"]),
        ("cafe\u0301 noir", ["cafe\u0301", "noir"]),
        ("so 👩‍👩‍👧 nice", ["so", "👩‍👩‍👧", "nice"]),
        ("日本語です", ["日", "本", "語", "で", "す"]),
        ("映画は A24 です", ["映", "画", "は", "A24", "で", "す"]),
        ("the word 日本 is Japanese", ["the", "word", "日本", "is", "Japanese"]),
        ("か\u3099き", ["か\u3099", "き"]),
    ],
)
def test_words(text, words):
    assert words_of(text) == words


@settings(deadline=None)
@given(texts)
def test_words_are_in_order_apart_and_without_white_space(text):
    spans = word_spans(text)
    assert all(before.end <= after.start for before, after in pairwise(spans))
    assert all(span.start < span.end for span in spans)
    assert not any(character in WHITE_SPACE for word in words_of(text) for character in word)


@settings(deadline=None)
@given(texts)
def test_words_leave_nothing_out_but_white_space(text):
    kept = "".join(words_of(text))
    assert kept == "".join(character for character in text if character not in WHITE_SPACE)


@settings(deadline=None)
@given(st.text(st.sampled_from("ab ,\n\r\t\u00a0é"), max_size=60))
def test_words_of_spaced_scripts_are_the_tokens_of_an_ascii_split(text):
    tokens = text.encode("utf-8").split()
    assert [word.encode("utf-8") for word in words_of(text)] == tokens


@settings(deadline=None)
@given(texts, st.integers(0, 60), st.integers(0, 60))
def test_words_in_are_those_that_share_a_character(text, one, other):
    start, end = sorted((min(one, len(text)), min(other, len(text))))
    words = word_spans(text)
    by_hand = [i for i, word in enumerate(words) if set(range(word.start, word.end)) & set(range(start, end))]
    assert list(words_in(words, Span(start, end))) == by_hand


@settings(deadline=None)
@given(texts, st.data())
def test_a_mask_becomes_spans_and_comes_back(text, data):
    words = word_spans(text)
    mask = data.draw(st.lists(st.booleans(), min_size=len(words), max_size=len(words)))
    spans = mask_spans(words, mask)
    assert word_mask(words, spans) == mask
    assert len(spans) == len(runs(mask))


@pytest.mark.parametrize(
    ("mask", "expected"),
    [("", []), ("0", []), ("1", [(0, 1)]), ("0110", [(1, 3)]), ("101", [(0, 1), (2, 3)]), ("111", [(0, 3)])],
)
def test_runs(mask, expected):
    assert runs(character == "1" for character in mask) == expected
