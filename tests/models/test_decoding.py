"""Decoding against brute force."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rationalize.models import decoding
from searches import search

untimed = search(150)

# Eighths add up exactly, so that equal totals are equal.
PIECE = st.tuples(st.integers(-8, 8).map(lambda k: k / 8), st.booleans())
ROWS = st.integers(1, 9).flatmap(
    lambda n: st.lists(st.lists(PIECE, min_size=n, max_size=n), min_size=1, max_size=3)
)
HUNDREDTHS = st.integers(0, 100).map(lambda k: Fraction(k, 100))


def tensors(rows):
    scores = torch.tensor([[score for score, _ in row] for row in rows])
    return scores, torch.tensor([[own for _, own in row] for row in rows])


def test_argmax_and_threshold_stay_on_the_document():
    logits = torch.tensor([[[0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [0.5, 0.5]]])
    selectable = torch.tensor([[False, True, True, True]])
    assert decoding.argmax(logits, selectable).tolist() == [[False, True, False, False]]
    scores = torch.tensor([[0.9, 0.9, 0.3, 0.30001]])
    assert decoding.threshold(scores, selectable, 0.3).tolist() == [[False, True, False, True]]


def decode(decoder, rows, share):
    """Each row, where it may be selected, how much is wanted, and where it was."""
    scores, selectable = tensors(rows)
    for row, mask in zip(rows, decoder(scores, selectable, float(share)).tolist(), strict=True):
        own = [at for at, (_, allowed) in enumerate(row) if allowed]
        yield row, own, math.ceil(share * len(own)), [at for at, chosen in enumerate(mask) if chosen]


@untimed
@given(rows=ROWS, share=HUNDREDTHS)
def test_topk_takes_exactly_the_best_and_of_equals_the_earlier(rows, share):
    for row, own, size, found in decode(decoding.topk, rows, share):
        assert found == sorted(sorted(own, key=lambda at: (-row[at][0], at))[:size])


@untimed
@given(rows=ROWS, share=HUNDREDTHS)
def test_span_is_the_best_window(rows, share):
    for row, own, size, found in decode(decoding.span, rows, share):
        windows = [own[start : start + size] for start in range(len(own) - size + 1)]
        totals = [sum(row[at][0] for at in window) for window in windows]
        assert found == windows[totals.index(max(totals))]


@pytest.mark.parametrize("share", [0.07, 0.1, 0.2, 0.3, 0.55, 0.7])
def test_counts_are_right_for_every_length(share):
    exact = Fraction(str(share))
    for n in range(0, 2100, 50):
        scores, selectable = torch.zeros(1, n), torch.ones(1, n, dtype=torch.bool)
        expected = math.ceil(exact * n)
        best = decoding.topk(scores, selectable, share)
        assert best.sum() == best[:, :expected].sum() == expected, n  # all are equal: the first ones
        assert decoding.span(scores, selectable, share).sum() == expected, n


@untimed
@given(
    rows=st.integers(1, 10).flatmap(
        lambda n: st.lists(
            st.lists(st.tuples(st.integers(0, 4), st.booleans(), st.booleans()), min_size=n, max_size=n),
            min_size=1,
            max_size=3,
        )
    )
)
def test_whole_words_takes_every_piece_of_a_touched_word(rows):
    words = torch.tensor([[word if own else -1 for word, own, _ in row] for row in rows])
    selectable = torch.tensor([[own for _, own, _ in row] for row in rows])
    mask = torch.tensor([[chosen for _, _, chosen in row] for row in rows])
    found = decoding.complete_words(mask, words, selectable).tolist()
    for row, result in zip(rows, found, strict=True):
        touched = {word for word, own, chosen in row if own and chosen}
        assert result == [own and word in touched for word, own, _ in row]


def test_nothing_selectable_gives_nothing():
    scores, nothing = torch.ones(2, 3), torch.zeros(2, 3, dtype=torch.bool)
    assert not decoding.topk(scores, nothing, 0.5).any()
    assert not decoding.span(scores, nothing, 0.5).any()
    assert not decoding.complete_words(~nothing, torch.full((2, 3), -1), nothing).any()
