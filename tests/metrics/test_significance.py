from __future__ import annotations

import pytest

from rationalize.errors import DataError
from rationalize.metrics.significance import bootstrap_interval, paired_t_p, permutation_p


@pytest.mark.parametrize("n", [1, 3, 5])
def test_equal_differences_have_two_extreme_flips(n):
    assert permutation_p([1.0] * n, [0.0] * n) == pytest.approx(2 / 2**n)


def test_exact_p_counted_by_hand():
    # Sums of ±1 ±2 ±3 at least |1 + 2 - 3| = 0: all; at least 4 (= -1 + 2 + 3): 4 of 8.
    assert permutation_p([1, 2, -3], [0, 0, 0]) == 1
    assert permutation_p([-1, 2, 3], [0, 0, 0]) == 0.5


def test_many_pairs_are_drawn_and_the_seed_decides():
    ours, theirs = [1.0] * 40, [0.0] * 40
    assert permutation_p(ours, theirs, draws=999) == 1 / 1000
    mixed = [float(index % 3) for index in range(40)]
    assert permutation_p(mixed, ours, seed=1) == permutation_p(mixed, ours, seed=1)
    assert permutation_p(ours, ours) == 1


def test_all_draws_are_counted_once_whatever_their_number():
    assert permutation_p([1.0] * 40, [1.0] * 40, draws=750) == 1


def test_a_narrow_interval_is_as_narrow_as_a_normal_one():
    found = bootstrap_interval([0.0, 1.0] * 200, [0.0] * 400, level=0.5)
    assert (found.low, found.high) == pytest.approx((0.5 - 0.0169, 0.5 + 0.0169), abs=0.004)


def test_bootstrap_of_a_constant_and_of_a_spread():
    constant = bootstrap_interval([3.0] * 5, [1.0] * 5)
    assert (constant.low, constant.high) == (2, 2)
    spread = bootstrap_interval([0.0, 1.0] * 50, [0.0] * 100)
    assert 0.35 < spread.low < 0.5 < spread.high < 0.65


def test_paired_t_against_the_closed_form():
    # Two pairs: one degree of freedom, a Cauchy law; t = 1.5 / 0.5 = 3.
    from math import atan, pi

    assert paired_t_p([1, 2], [0, 0]) == pytest.approx(1 - 2 * atan(3) / pi)
    assert paired_t_p([1], [0]) is None
    assert paired_t_p([1, 1], [0, 0]) is None


def test_unequal_lengths_are_refused():
    with pytest.raises(DataError, match="got 2 and 1 values"):
        permutation_p([1, 2], [1])
