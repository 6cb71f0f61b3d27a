"""Means and tests, against counting by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fake_cells import FACTS, cell

from rationalize.comparison._paper import find_reported
from rationalize.comparison._summary import (
    compare_with_baseline,
    find_shared_splits,
    group_rows,
    summarize_row,
)
from rationalize.comparison.comparison_tables import compare_rows
from rationalize.reporting.wording import MeanValue


def test_means_over_seeds():
    row = summarize_row([cell("a", 0, task=0.5, ood=0.4), cell("a", 1, task=0.7, ood=0.2)], "test")
    task = row.metrics["task_f1_weighted"]
    assert (task.mean, task.sd, task.n) == (pytest.approx(0.6), pytest.approx(0.1 * 2**0.5), 2)
    assert row.metrics["ood_drop"].mean == pytest.approx(0.3)
    assert row.trivial["all"].token_f1_eraser == pytest.approx(0.6)
    assert row.trivial["all"].share_from == "all"
    assert (row.runs, row.seconds.mean) == (2, 1.5)


def test_examples_are_paired_within_their_seed_only():
    """The same place is another text under another seed: averaging over seeds would mix them."""
    ours = [cell("a", 0, correct=(1, 1)), cell("a", 1, correct=(0, 0)), cell("a", 2)]
    base = [cell("b", 1, correct=(1, 0)), cell("b", 0, correct=(0, 0))]
    tests = {(each.over, each.metric): each for each in compare_with_baseline(ours, base, "test")}
    over = tests["examples", "correct"]
    assert over.n == 4
    assert over.difference == pytest.approx((1 + 1 - 1 + 0) / 4)
    assert tests["examples", "token_f1"].n == 2
    assert tests["seeds", "ood_drop"].n == 2


def test_examples_of_other_texts_are_not_paired():
    tests = compare_with_baseline(
        [cell("a", 0), cell("a", 1)], [cell("b", 0, scored_on="other"), cell("b", 1)], "test"
    )
    assert {each.n for each in tests if (each.over, each.metric) == ("examples", "correct")} == {2}


def test_shares_are_named_where_they_vary():
    cells = [cell("a", 0), cell("a", 0, gold_share=0.5), cell("b", 0, supervision="none")]
    assert list(group_rows(cells)["movies"]) == ["a, 25 % gold", "a, 50 % gold", "b"]
    cells = [cell("a", 0), cell("a", 0, augment="random")]
    assert list(group_rows(cells)["movies"]) == ["a", "a + random DA"]


def test_splits_stand_in_the_order_of_scoring_and_only_if_all_have_them():
    part = cell("a", 0).results["test"]
    first = replace(cell("a", 0), results={"test": part, "sst2": part, "imdb": part})
    second = replace(cell("b", 0), results={"test": part, "imdb": part})
    assert find_shared_splits({"a": [first], "b": [second]}) == ["test", "imdb"]


def test_the_baseline_is_its_first_row():
    cells = [cell("b", 0), cell("a", 0), cell("a", 0, augment="random")]
    found = compare_rows(cells, "a")
    assert [set(each.tests) for each in found] == [{"b", "a + random DA"}] * 2
    assert "difference from a " in found[0].tables[1].title


def test_the_baseline_has_as_many_gold_rationales():
    shares = [cell(name, 0, gold_share=share) for name in ("a", "b") for share in (0.1, 0.5)]
    [table, _] = compare_rows([*shares, cell("c", 0, supervision="none")], "a")
    assert [row.values[0] for row in table.tables[1].rows] == [
        "b, 10 % gold − a, 10 % gold",
        "b, 50 % gold − a, 50 % gold",
        "c − a, 10 % gold",
    ]
    assert table.tables[1].title == "movies, test: difference (p)"


def test_reported_figures_stand_only_beside_what_the_paper_ran():
    about = replace(FACTS, name="semi_rat")

    def reported(data, split, **changes):
        return find_reported(replace(about, **changes), data, split)

    figures = reported("movies", "test")
    assert figures["token_f1_micro_piece"].mean == pytest.approx(0.304)
    assert reported("movies", "test", augment="random") != figures
    augmented = reported("fever", "test", name="ssr_virt", method="ssr_virt", augment="semantic")
    assert augmented["task_f1_weighted"].mean == pytest.approx(0.889)
    assert reported("fever", "test", augment="semantic") is None, "only SSR's row has FEVER"
    assert reported("movies", "test", gold_share=0.5) is None
    assert reported("movies", "test", uniform_weight=0.1) is None
    unif = {"name": "ssr_unif", "method": "ssr_unif"}
    assert reported("movies", "test", **unif, uniform_weight=0.1) is not None
    assert reported("movies", "test", **unif, uniform_weight=0.0) is None
    assert reported("movies", "test", name="mine") is None
    assert reported("planted", "test") is None
    elsewhere = reported("movies", "sst2")
    assert elsewhere["task_f1_weighted"].mean == pytest.approx(0.759)
    assert elsewhere["task_f1_weighted"].sd == pytest.approx(0.007)
    assert (elsewhere["comprehensiveness"], elsewhere["sufficiency"]) == (MeanValue(0.23), MeanValue(0.24))
    assert reported("movies", "sst2", augment="semantic").keys() == {"task_f1_weighted"}
    assert reported("movies", "val") is None
    assert reported("multirc", "sst2") is None
    assert reported("movies", "test", method="dar", name="dar") is None
