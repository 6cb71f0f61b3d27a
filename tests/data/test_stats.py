from __future__ import annotations

import pytest
from data_strategies import any_text
from hypothesis import given, settings
from hypothesis import strategies as st

from rationalize.data._truncation import Truncation, measure_truncation
from rationalize.data._word_index import index_words
from rationalize.data.dataset import DataSet
from rationalize.data.stats import measure_data
from rationalize.text.words import word_spans
from rationalize.types import Document, Example, Span


@settings(deadline=None)
@given(any_text, st.sampled_from(["unicode", "whitespace"]))
def test_the_quick_way_to_words_finds_the_same_words(text, rule):
    words = index_words(text, rule)
    assert [Span(*pair) for pair in zip(words.starts, words.ends)] == word_spans(text, rule)


@settings(deadline=None)
@given(any_text, st.integers(0, 20), st.integers(0, 20))
def test_places_of_words(text, one, other):
    words, (start, end) = index_words(text, "unicode"), sorted((one, other))
    spans = word_spans(text, "unicode")
    assert words.is_inside(start) == any(span.start < start < span.end for span in spans)
    assert words.starts_at(start) == any(span.start == start for span in spans)
    assert words.ends_at(end) == any(span.end == end for span in spans)
    assert list(words.inside(start, end)) == [
        index for index, span in enumerate(spans) if start <= span.start and span.end <= end
    ]


def test_figures():
    train = (
        Example("a", "one two three four", "P", rationale=(Span(0, 3), Span(4, 13, 1))),
        Example("b", "five six", "N", query="?", rationale=()),
        Example("c", "one two three four", None),
    )
    test = (Example("d", "five six\nseven", "P", documents=(Document("x", 0, 8), Document("y", 9, 14))),)
    figures = measure_data(DataSet("set", {"train": train, "test": test}))
    split = figures.splits["train"]
    assert (split.rows, split.queries, split.documents) == (3, 1, 2)
    assert split.labels == {"(none)": 1, "N": 1, "P": 1}
    assert (split.words_mean, split.words_median, split.words_max) == (pytest.approx(10 / 3), 4, 4)
    assert (split.annotated, split.without_gold) == (2, 1)
    assert (split.gold_fraction, split.spans_per_row, split.span_words_mean) == (0.375, 1.0, 1.5)
    assert figures.splits["test"].gold_fraction is None
    assert figures.splits["test"].documents == 2
    assert figures.shared_documents == {"train/test": 1}


def test_overlapping_gold_counts_once():
    example = Example("a", "one two", rationale=(Span(0, 3), Span(0, 7, 1)))
    assert measure_data(DataSet("s", {"x": (example,)})).splits["x"].gold_fraction == 1.0


def one_piece_per_letter(text):
    return [(index, index + 1) for index, letter in enumerate(text) if letter != " "]


def test_gold_behind_the_cut():
    examples = [
        Example("fits", "ab cd", rationale=(Span(0, 2),)),
        Example("half", "ab cd ef", rationale=(Span(0, 8),)),
        Example("lost", "ab cd ef", rationale=(Span(6, 8),)),
        Example("query", "ab cd", query="xyz", rationale=(Span(3, 5),)),
        Example("none", "ab cd ef gh"),
    ]
    # Of 6 pieces, 2 are special: 4 letters fit; with the query of "query" none does.
    assert measure_truncation(examples, one_piece_per_letter, 6, "unicode") == Truncation(6, 4, 6, 3, 2)
