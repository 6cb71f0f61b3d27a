"""Units: from pieces to sentences or words and back, against plain Python."""

from __future__ import annotations

from itertools import groupby

import torch
from hypothesis import given
from hypothesis import strategies as st

from rationalize.models.units import find_units
from searches import search

# Rows of (step to the next number, selectable, marked); numbers never fall, as in a text.
PIECES = st.tuples(st.integers(0, 2), st.booleans(), st.booleans())
ROWS = st.integers(1, 9).flatmap(
    lambda n: st.lists(st.lists(PIECES, min_size=n, max_size=n), min_size=1, max_size=4)
)


def numbers_of(row, first):
    number, found = first, []
    for step, own, _ in row:
        number += step
        found.append(number if own else -1)
    return found


def by_hand(numbers):
    """Pieces of each unit, in order; a gap in the document parts what has one number."""
    stretches = [list(group) for _, group in groupby(range(len(numbers)), key=lambda at: numbers[at])]
    return [stretch for stretch in stretches if numbers[stretch[0]] >= 0]


@search(150)
@given(rows=ROWS, first=st.integers(0, 300))
def test_units_are_the_stretches_of_one_number(rows, first):
    numbers = [numbers_of(row, first) for row in rows]
    expected = [by_hand(row) for row in numbers]
    units = find_units(torch.tensor(numbers), torch.tensor([[own for _, own, _ in row] for row in rows]))
    assert units.present.shape[1] == max(1, *(len(row) for row in expected))
    assert units.present.sum(-1).tolist() == [len(row) for row in expected]
    for at, row in enumerate(expected):
        assert units.starts[at, : len(row)].tolist() == [stretch[0] for stretch in row]
        assert units.ends[at, : len(row)].tolist() == [stretch[-1] for stretch in row]
    marks = torch.tensor([[marked for _, _, marked in row] for row in rows])
    touched = units.find_touched(marks)
    whole = units.spread(touched)
    for at, row in enumerate(expected):
        hit = [any(marks[at, piece] for piece in stretch) for stretch in row]
        assert touched[at].tolist() == hit + [False] * (touched.shape[1] - len(row))
        pieces = {piece for stretch, taken in zip(row, hit, strict=True) if taken for piece in stretch}
        assert whole[at].nonzero().squeeze(-1).tolist() == sorted(pieces)


def test_edges_are_the_first_and_the_last_vector():
    numbers = torch.tensor([[-1, 5, 5, 5, 6, -1], [-1, 0, -1, -1, -1, -1]])
    units = find_units(numbers, numbers >= 0)
    hidden = torch.arange(12.0).reshape(2, 6, 1)
    edges = units.join_edges(hidden)
    assert edges.shape == (2, 2, 2)
    assert edges[0].tolist() == [[1, 3], [4, 4]]  # the released code would say [[1, 1], [4, 4]]
    assert edges[1, 0].tolist() == [7, 7]


def test_mean_counts_the_units_that_are_there():
    numbers = torch.tensor([[0, 1, 2], [4, 4, -1], [-1, -1, -1]])
    units = find_units(numbers, numbers >= 0)
    values = torch.tensor([[1.0, 2.0, 6.0], [5.0, 99.0, 99.0], [99.0, 99.0, 99.0]])
    assert units.average(values).tolist() == [3, 5, 0]


def test_pieces_without_a_number_or_not_selectable_are_in_no_unit():
    numbers = torch.tensor([[2, 2, -1, 3]])
    units = find_units(numbers, torch.tensor([[False, True, True, True]]))
    assert units.inside.tolist() == [[False, True, False, True]]
    assert units.spread(torch.tensor([[0.5, 0.7]])).tolist() == [[0, 0.5, 0, torch.tensor(0.7).item()]]


def test_gradients_reach_the_edges_alone():
    numbers = torch.tensor([[-1, 0, 0, 0, 1, 1]])
    hidden = torch.randn(1, 6, 3, requires_grad=True)
    units = find_units(numbers, numbers >= 0)
    units.join_edges(hidden).sum().backward()
    assert hidden.grad.abs().sum(-1)[0].bool().tolist() == [False, True, False, True, True, True]
