"""Which window of a long text an epoch shows."""

from __future__ import annotations

from collections import Counter

import pytest

from helpers import tiny_corpus, tiny_rows, tiny_run, tiny_tokenizer
from rationalize.runs._training_rows import to_rows
from rationalize.runs.training_data import make_training_data
from rationalize.text.windows import TextEncoder
from rationalize.training._window_choice import choose_window
from rationalize.types import Example, Span

TEXT = " ".join(example.text for example in tiny_corpus(6))


def make_row(gold=None, name="x"):
    """A text of many windows of 24 pieces; `gold` is where a marked word begins."""
    rationale = None if gold is None else (Span(gold, gold + 3),)
    example = Example(name, TEXT, "POS", rationale=rationale)
    data = make_training_data(tiny_run("sup_rat"), tiny_corpus(4), tiny_corpus(4))
    encoded = TextEncoder(tiny_tokenizer(), 24).encode_all([example], truncate=False)
    (row,) = to_rows(encoded, data)["all"]
    return row


def place_of(window):
    return int(window.window.starts.max())


def test_a_text_that_fits_is_always_itself():
    (row,) = tiny_rows(tiny_corpus(1))
    assert choose_window(row, 0, 5) is row


@pytest.mark.parametrize("seed", [0, 1])
def test_over_as_many_epochs_as_there_are_windows_each_is_seen_once(seed):
    row = make_row()
    places = {place_of(each) for each in (row, *row.more)}
    n = len(places)
    assert n == 1 + len(row.more) > 5
    for round_ in range(3):
        epochs = range(round_ * n, (round_ + 1) * n)
        assert {place_of(choose_window(row, seed, epoch)) for epoch in epochs} == places


def test_windows_come_in_another_order_in_every_round_and_for_every_text():
    row, other = make_row(), make_row(name="y")
    n = 1 + len(row.more)

    def order(some, first):
        return [place_of(choose_window(some, 0, epoch)) for epoch in range(first, first + n)]

    assert order(row, 0) == order(row, 0)
    assert len({tuple(order(row, 0)), tuple(order(row, n)), tuple(order(other, 0))}) == 3


@pytest.mark.parametrize("name", [f"text {number}" for number in range(8)])
def test_gold_is_seen_in_every_other_epoch_and_everything_else_in_turn(name):
    row = make_row(gold=len(TEXT) // 2, name=name)
    windows = (row, *row.more)
    marked = {place_of(each) for each in windows if each.gold.any()}
    assert 0 < len(marked) < len(windows)
    seen = [place_of(choose_window(row, 0, epoch)) for epoch in range(2 * len(windows))]
    offset = 0 if all(place in marked for place in seen[::2]) else 1
    assert all(place in marked for place in seen[offset::2])
    assert Counter(seen[1 - offset :: 2]) == Counter(place_of(each) for each in windows)


def test_half_of_the_texts_begin_with_gold():
    firsts = [choose_window(make_row(gold=len(TEXT) // 2, name=str(n)), 0, 0).gold.any() for n in range(40)]
    assert 10 < sum(firsts) < 35
