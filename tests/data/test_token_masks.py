"""Texts as tokens with marks of 0 and 1, by one person or by several."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rationalize.data._token_masks import place_tokens
from rationalize.data.source import load
from rationalize.text.words import word_mask, word_spans
from rationalize.types import Example, Span

TOKENS = ["so", "very", ",", "n't", "good"]


def read(rationale, **options):
    (example,) = load([{"tokens": TOKENS, "label": "A", "rationale": rationale}], **options)["data"]
    assert example.text == "so very , n't good"
    return example.rationale


def test_marks_become_spans_of_whole_words():
    assert read([0, 1, 1, 0, 1]) == (Span(3, 9), Span(14, 18))
    assert read([False] * 5) == read([]) == ()
    assert read(None) is None


@pytest.mark.parametrize(
    ("masks", "majority", "union"),
    [
        ([[1, 1, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 0, 0, 1]], [1], [0, 1, 4]),
        ([[1, 0, 0, 0, 0], [0, 0, 0, 0, 1]], [0, 4], [0, 4]),  # a tie counts as marked
        ([[0, 0, 1, 0, 0]], [2], [2]),
    ],
)
def test_several_people(masks, majority, union):
    words = word_spans(" ".join(TOKENS), "whitespace")
    for annotators, wanted in (("majority", majority), ("union", union)):
        marked = word_mask(words, read(masks, annotators=annotators))
        assert [index for index, mark in enumerate(marked) if mark] == wanted


@given(st.lists(st.tuples(st.text("ab,.'", min_size=1), st.booleans()), min_size=1))
def test_every_token_keeps_its_mark(rows):
    tokens, marks = zip(*rows)
    example = load([{"tokens": list(tokens), "rationale": list(marks)}])["data"][0]
    text, places = place_tokens(tokens)
    assert text == example.text
    assert word_mask(places, example.rationale) == list(marks)


def test_words_of_such_data_are_the_tokens(tmp_path):
    path = tmp_path / "train.jsonl"
    path.write_text(json.dumps({"post_tokens": TOKENS, "marks": [0, 0, 0, 1, 1], "label": "A"}) + "\n")
    data = load(path, text_field="post_tokens", rationale_field="marks")
    assert data.words == "whitespace"
    assert data["train"] == (Example("train-1", "so very , n't good", "A", rationale=(Span(10, 18),)),)
    assert load(path, text_field="post_tokens", rationale_field="marks", words="unicode").words == "unicode"


def test_tokens_in_a_table(tmp_path):
    (tmp_path / "train.csv").write_text('tokens,rationale\n"[""a"", ""b""]","[0, 1]"\n')
    assert load(tmp_path / "train.csv")["train"][0].rationale == (Span(2, 3),)
