"""Candidate spans against a walk over all pairs."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rationalize.methods.at_bmc.boundaries import pair_boundaries
from rationalize.text.words import find_runs

MASKS = st.integers(1, 9).flatmap(
    lambda n: st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=1, max_size=4)
)


@settings(deadline=None)
@given(rows=MASKS)
def test_pairs_are_those_of_a_walk_over_all(rows):
    found = pair_boundaries(torch.tensor(rows))
    expected = []
    for row, mask in enumerate(rows):
        spans = {(start, end - 1) for start, end in find_runs(mask)}
        starts, ends = {start for start, _ in spans}, {end for _, end in spans}
        expected += [
            (row, i, j, (i, j) in spans)
            for i in range(len(mask))
            for j in range(i, len(mask))
            if i in starts and j in ends
        ]
    assert list(zip(*(part.tolist() for part in found), strict=True)) == expected


def test_three_spans_have_six_candidates():
    gold = torch.tensor([[True, True, False, True, False, True]])
    rows, starts, ends, matches = pair_boundaries(gold)
    assert rows.tolist() == [0] * 6
    assert starts.tolist() == [0, 0, 0, 3, 3, 5]
    assert ends.tolist() == [1, 3, 5, 3, 5, 5]
    assert matches.tolist() == [True, False, False, True, False, True]
