"""Calibration error, accuracy where readings agree, and floors for a wanted precision."""

from __future__ import annotations

import pytest

from rationalize.metrics.confidence_scores import (
    ConfidenceScores,
    SureLabel,
    calibration_error,
    find_thresholds,
    score_confidence,
)


def test_calibration_error_of_a_worked_example():
    # Two bins: 0.9 and 0.9 with one right (gap 0.4), 0.6 alone and right (gap 0.4).
    assert calibration_error([0.9, 0.9, 0.6], [True, False, True]) == pytest.approx((0.8 + 0.4) / 3)
    assert calibration_error([1.0], [True]) == 0.0
    # Full confidence belongs to the last bin, with 0.95 (gap 0.95 of the two together); 0.9 has the one before.
    assert calibration_error([1.0, 0.95, 0.9], [False, True, True]) == pytest.approx((0.95 + 0.1) / 3)
    assert calibration_error([], []) == 0.0


def test_scores_with_and_without_two_readings():
    rows = [
        SureLabel("A", "A", 0.9, 0.8, agree=True),
        SureLabel("B", "A", 0.9, 0.8, agree=True),
        SureLabel("B", "A", 0.6, 0.5, agree=False),
    ]
    found = score_confidence(rows)
    assert (found.n_agree, found.accuracy_agree) == (2, 0.5)
    assert (found.n_disagree, found.accuracy_disagree) == (1, 0.0)
    assert ConfidenceScores.from_dict(found.to_dict()) == found
    alone = score_confidence([SureLabel("A", "A", 0.9, 0.9)])
    assert (alone.n_agree, alone.accuracy_disagree) == (None, None)
    assert score_confidence([]) is None


def test_the_lowest_confidence_that_reaches_a_precision():
    rows = [
        SureLabel("A", "A", 0.9, 0.9),
        SureLabel("B", "A", 0.8, 0.8),
        SureLabel("A", "A", 0.7, 0.7),
        SureLabel("A", "A", 0.7, 0.7),
        SureLabel("B", "B", 0.6, 0.6),
        SureLabel("B", "C", 0.6, 0.6),
    ]
    assert find_thresholds(rows, 0.75) == {"A": 0.7, "B": 0.6, "C": None}
    assert find_thresholds(rows, 1.0)["A"] == 0.9


def test_equal_confidence_stands_or_falls_together():
    """No floor lets the right one of two equally sure labels through, and holds the wrong one back."""
    rows = [
        SureLabel("A", "A", 0.9, 0.9),
        SureLabel("A", "A", 0.8, 0.8),
        SureLabel("B", "A", 0.8, 0.8),
    ]
    assert find_thresholds(rows, 1.0) == {"A": 0.9}
