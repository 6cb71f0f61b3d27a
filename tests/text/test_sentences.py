"""Sentences: by lines or by stops, in one pass over any text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rationalize.text.sentences import find_sentences
from rationalize.types import Span
from searches import search

LINE = re.compile(r"[^\n]*\S[^\n]*")
SENTENCE = re.compile(r"\S.*?(?:[.!?…]+[\"'”’)\]]*(?=\s)|[。！？]+|$)", re.DOTALL)


def define_sentences(text):
    """What sentences are, in two patterns; on long runs of stops or blanks these take the square of the length."""
    lines = [Span(*match.span()) for match in LINE.finditer(text)]
    return lines if len(lines) > 1 else [Span(*match.span()) for match in SENTENCE.finditer(text.rstrip())]


@search(400)
@given(st.lists(st.sampled_from(list(".!?…。！？\"')] ab\n\t\u00a0\u3000")), max_size=20).map("".join))
def test_sentences_are_what_they_are_defined_to_be(text):
    assert find_sentences(text) == define_sentences(text)


@pytest.mark.parametrize("text", ["." * 300_000 + "x", " " * 300_000, "a" + "?!" * 150_000 + "b"])
def test_long_runs_are_passed_once(text):
    """By the patterns that define sentences this would take hours."""
    assert len(find_sentences(text)) == (0 if text.isspace() else 1)
