from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from metrics_golden import untimed

from rationalize.errors import ConfigError
from rationalize.metrics.selectors import (
    SELECTORS,
    at_least_share,
    n_of_share,
    top_share,
    top_words,
    trivial_mask,
    trivial_scores,
)


def test_where_each_selects():
    assert trivial_mask("first", 5, 0.4) == (True, True, False, False, False)
    assert trivial_mask("last", 5, 0.4) == (False, False, False, True, True)
    assert trivial_mask("all", 5, 0.4) == (True,) * 5


@untimed
@given(st.sampled_from(SELECTORS), st.integers(0, 60), st.floats(0, 1))
def test_the_number_selected_is_the_share_rounded_with_at_least_one(selector, n_words, share):
    mask = trivial_mask(selector, n_words, share)
    assert len(mask) == n_words
    assert sum(mask) == (n_words if selector == "all" else n_of_share(n_words, share))
    if share and n_words and selector != "all":
        assert sum(mask) >= 1
        assert sum(mask) == 1 or abs(sum(mask) - share * n_words) <= 0.5 + 1e-9


def test_random_depends_on_seed_and_document_alone():
    draw = [trivial_mask("random", 200, 0.2, seed=3, key=("x", "d")) for _ in range(2)]
    assert draw[0] == draw[1]
    assert draw[0] != trivial_mask("random", 200, 0.2, seed=4, key=("x", "d"))
    assert draw[0] != trivial_mask("random", 200, 0.2, seed=3, key=("y", "d"))


def test_random_reaches_every_part():
    counts = [
        sum(column) for column in zip(*(trivial_mask("random", 10, 0.2, key=(n,)) for n in range(2000)))
    ]
    assert min(counts) > 320
    assert max(counts) < 480


def test_a_mask_is_the_top_of_the_ranking_and_ties_go_to_the_earlier_word():
    assert top_share([0.1, 0.9, 0.9, 0.9], 0.5) == (False, True, True, False)
    scores = trivial_scores("random", 30, key=("x",))
    mask = trivial_mask("random", 30, 0.3, key=("x",))
    assert min(s for s, m in zip(scores, mask) if m) > max(s for s, m in zip(scores, mask) if not m)


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_a_share_outside_0_to_1_is_refused(share):
    with pytest.raises(ConfigError, match="from 0 to 1"):
        trivial_mask("first", 3, share)


def test_an_unknown_selector_is_refused():
    with pytest.raises(ConfigError, match="'middle'; expected one of all, random, first, last"):
        trivial_scores("middle", 3)


def test_shares_rounded_up():
    assert [at_least_share(n, 0.01) for n in (0, 1, 100, 101, 700)] == [0, 1, 1, 2, 7]
    assert [at_least_share(10, share) for share in (0, 0.05, 0.2, 0.5, 1)] == [0, 1, 2, 5, 10]
    with pytest.raises(ConfigError, match=r"share: saw 1\.5"):
        at_least_share(10, 1.5)


def test_of_equal_scores_the_earlier_word_wins():
    assert top_words([0.5, 0.9, 0.5, 0.5], 2) == (True, True, False, False)
