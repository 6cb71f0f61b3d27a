"""Which epoch is kept, without any training."""

from __future__ import annotations

import pytest

from rationalize.training._epoch_choice import EpochChoice, ScoredEpoch, Standing


def play(epochs, **rule):
    """The standing after epochs given as (score, task, in band), and which of them were the best when they came."""
    choice, standing, best = EpochChoice(**rule), Standing(), []
    for number, (score, *more) in enumerate(epochs):
        task, in_band = (*more, *(0.0, True)[len(more) :])
        standing, better = choice.judge(standing, ScoredEpoch(number, score, task, in_band=in_band))
        best.append(better)
    return standing, best


def test_the_highest_score_is_kept_and_of_equal_ones_the_later():
    standing, best = play([(0.3,), (0.5,), (0.5,), (0.4,)])
    assert best == [True, True, True, False]
    assert (standing.best_epoch, standing.best_score) == (2, 0.5)
    assert standing.stale == 2  # an equal score is no better one, so patience runs on


def test_without_a_score_the_newest_is_kept():
    standing, best = play([(None,), (None,)])
    assert best == [True, True]
    assert standing.best_epoch == 1


def test_an_epoch_outside_the_band_is_kept_only_until_one_is_inside():
    epochs = [(0.9, 0.0, False), (0.95, 0.0, False), (0.1, 0.0, True), (0.99, 0.0, False)]
    standing, best = play(epochs)
    assert best == [True, True, True, False]
    assert (standing.best_epoch, standing.best_score) == (2, 0.1)
    assert standing.stale == 0  # on the way to the share, patience does not run


def test_an_epoch_too_far_behind_in_the_task_is_not_kept():
    far, near = (0.9, 0.70), (0.2, 0.91)
    assert play([(0.1, 0.90), far, near], allowance=0.1)[0].best_epoch == 2
    assert play([(0.1, 0.90), far, near])[0].best_epoch == 1
    # Exactly at the edge is near enough.
    assert play([(0.1, 1.0), (0.2, 0.9)], allowance=0.1)[0].best_epoch == 1


def test_the_kept_epoch_falls_behind_when_the_task_is_learned_later():
    standing, best = play([(0.9, 0.5), (0.1, 0.8)], allowance=0.1)
    assert best == [True, True]
    assert (standing.best_epoch, standing.best_task, standing.top_task) == (1, 0.8, 0.8)


def test_without_any_epoch_inside_the_band_the_best_outside_is_kept():
    standing, best = play([(0.6, 0.0, False), (0.8, 0.0, False), (0.7, 0.0, False)])
    assert best == [True, True, False]
    assert (standing.best_epoch, standing.best_in_band) == (1, False)


def test_of_equal_epochs_inside_the_band_the_later_is_kept_whatever_is_outside():
    standing, _ = play([(0.5,), (0.9, 0.0, False), (0.5,), (0.5, 0.0, False)])
    assert standing.best_epoch == 2


def test_an_epoch_outside_the_band_does_not_raise_the_bar():
    standing, best = play([(0.5, 0.99, False), (0.4, 0.6, True)], allowance=0.1)
    assert best == [True, True]
    assert standing.top_task == 0.6


def test_an_epoch_that_does_not_count_changes_nothing():
    choice = EpochChoice(allowance=0.1, patience=1)
    standing = Standing(0.5, 0, 0.5, 0.5, 0, True)
    assert choice.judge(standing, ScoredEpoch(1, 0.9, 0.9, counts=False)) == (standing, False)


@pytest.mark.parametrize(
    ("patience", "over"), [(None, [False] * 4), (1, [False, True, False, True]), (2, [False] * 4)]
)
def test_patience_counts_epochs_since_the_best(patience, over):
    choice, standing, found = EpochChoice(patience=patience), Standing(), []
    for number, score in enumerate([0.5, 0.4, 0.6, 0.6]):
        standing, _ = choice.judge(standing, ScoredEpoch(number, score))
        found.append(choice.is_out_of_patience(standing))
    assert found == over
