"""Perturbed copies: the rationale stays to the letter, as many other words change as asked."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import tiny_corpus
from rationalize.methods.at_bmc.perturb import perturb, perturb_word
from rationalize.text.words import word_mask, word_spans
from rationalize.types import Example, Span

WORDS = ("story", "don't", "1994", "a", "we're", "can't", "gripping", "x9", "naïve", "--")


def words_of(text):
    return [text[word.start : word.end] for word in word_spans(text)]


@st.composite
def marked_texts(draw):
    """Any words, any spans over any of their characters."""
    words = draw(st.lists(st.sampled_from(WORDS), max_size=15))
    text = " ".join(words)
    bounds = st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))
    spans = [Span(*sorted(pair)) for pair in draw(st.lists(bounds, max_size=3))]
    return Example(draw(st.sampled_from("ab")), text, "POS", rationale=tuple(spans))


@settings(deadline=None)
@given(example=marked_texts(), share=st.sampled_from([0.0, 0.2, 0.5, 1.0]), seed=st.integers(0, 99))
def test_gold_words_are_never_changed(example, share, seed):
    copy = perturb(example, share, seed, "unicode")
    for old, new in zip(example.rationale, copy.rationale, strict=True):
        assert copy.text[new.start : new.end] == example.text[old.start : old.end]
    kept = word_mask(word_spans(example.text), example.rationale)
    gold = [word for word, own in zip(words_of(example.text), kept, strict=True) if own]
    still = word_mask(word_spans(copy.text), copy.rationale)
    assert [word for word, own in zip(words_of(copy.text), still, strict=True) if own] == gold


def test_a_fifth_of_the_other_words_changes():
    text = " ".join(["something", "painfully", "beautiful", "different"] * 10)
    start = text.index("beautiful")
    example = Example("e", text, rationale=(Span(start, start + len("beautiful different")),))
    copy = perturb(example, 0.2, 3, "unicode")
    changed = [old != new for old, new in zip(words_of(text), words_of(copy.text), strict=True)]
    assert sum(changed) == round(0.2 * 38)
    assert not any(changed[2:4])
    assert copy.label == example.label
    assert copy.id != example.id


def test_words_that_cannot_change_are_passed_over():
    assert (
        perturb(Example("e", "a bb ccc eeee 7", rationale=()), 0.2, 0, "unicode").text[:-1]
        == "a bb ccc eeee "
    )
    assert perturb(Example("e", "a bb ccc", rationale=()), 1.0, 0, "unicode").text == "a bb ccc"


def test_the_key_decides():
    example = tiny_corpus(1)[0]
    assert perturb(example, 0.5, 1, "unicode") == perturb(example, 0.5, 1, "unicode")
    assert len({perturb(example, 0.5, seed, "unicode", copy).text for seed in (1, 2) for copy in (0, 1)}) == 4


def test_shortcuts_move_along():
    example = tiny_corpus(1)[0]
    copy = perturb(example, 0.5, 0, "unicode")
    for old, new in zip(example.shortcuts, copy.shortcuts, strict=True):
        before, after = example.text[old.start : old.end], copy.text[new.start : new.end]
        assert sorted(before) == sorted(after)


@pytest.mark.parametrize(
    ("word", "spelled_out"),
    [("don't", "do not"), ("won't", "will not"), ("n't", "not"), ("They're", "They are"), ("I'm", "I am")],
)
def test_contractions_are_spelled_out(word, spelled_out):
    assert perturb_word(word, Random(0)) == spelled_out


def test_a_digit_changes_to_another():
    for seed in range(50):
        changed = perturb_word("(1994,", Random(seed))
        assert changed != "(1994,"
        assert changed[0] == "("
        assert changed[1:5].isdigit()
        assert changed[5] == ","


def test_two_inner_neighbors_swap():
    assert {perturb_word("story", Random(seed)) for seed in range(50)} == {"sotry", "stroy"}
    assert perturb_word("the", Random(0)) == "the"
    assert perturb_word("noon", Random(0)) == "noon"
