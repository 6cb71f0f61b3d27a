"""Curves over the annotated share."""

from __future__ import annotations

import pytest
from fake_cells import cell

from rationalize.comparison._efficiency import draw_curves


def test_a_curve_has_means_and_spreads_and_level_lines_for_methods_without_the_share():
    cells = [
        cell("semi", 0, gold_share=0.1, task=0.5),
        cell("semi", 1, gold_share=0.1, task=0.7),
        cell("semi", 0, gold_share=0.5, task=0.8),
        cell("un", 0, supervision="none", task=0.4),
    ]
    task = next(curve for curve in draw_curves(cells) if curve.name == "movies-gold_share-task_f1_weighted")
    assert task.points["semi"] == [(10, pytest.approx(0.6)), (50, 0.8)]
    assert task.spreads["semi"] == [pytest.approx(0.1 * 2**0.5), None]
    assert task.points["un"] == [(10, 0.4), (50, 0.4)]
    assert "<svg" in task.to_svg()
    assert "<figure" in task.to_html()


def test_nothing_is_drawn_where_nothing_varies():
    assert draw_curves([cell("semi", 0), cell("un", 0, supervision="none")]) == []


def test_augmented_shares_have_curves_of_their_own():
    cells = [cell("semi", 0, augment="random", augment_share=share) for share in (0.1, 0.5)]
    found = draw_curves([*cells, cell("semi", 0)])
    assert {curve.name.split("-")[1] for curve in found} == {"augment_share"}
    assert set(found[0].points) == {"semi + random DA", "semi"}
