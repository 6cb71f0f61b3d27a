"""Means and tests, against counting by hand."""

from __future__ import annotations

import pytest
from fake_cells import ABOUT, cell

from rationalize.comparison.comparison_tables import compare_rows
from rationalize.comparison.paper import find_reported
from rationalize.comparison.summary import compare_with_baseline, rows_of, shared_splits, summarize_row


def test_means_over_seeds():
    row = summarize_row([cell("a", 0, task=0.5, ood=0.4), cell("a", 1, task=0.7, ood=0.2)], "test")
    assert row["metrics"]["task_f1_weighted"] == pytest.approx({"mean": 0.6, "sd": 0.1 * 2**0.5, "n": 2})
    assert row["metrics"]["ood_drop"]["mean"] == pytest.approx(0.3)
    assert row["trivial"]["all"]["token_f1_eraser"] == pytest.approx(0.6)
    assert row["trivial"]["all"]["share_from"] == "all"
    assert (row["runs"], row["seconds"]["mean"]) == (2, 1.5)


def test_examples_are_paired_within_their_seed_only():
    """The same place is another text under another seed: averaging over seeds would mix them."""
    ours = [cell("a", 0, correct=(1, 1)), cell("a", 1, correct=(0, 0)), cell("a", 2)]
    base = [cell("b", 1, correct=(1, 0)), cell("b", 0, correct=(0, 0))]
    tests = {(each["over"], each["metric"]): each for each in compare_with_baseline(ours, base, "test")}
    over = tests["examples", "correct"]
    assert over["n"] == 4
    assert over["difference"] == pytest.approx((1 + 1 - 1 + 0) / 4)
    assert tests["examples", "token_f1"]["n"] == 2
    assert tests["seeds", "ood_drop"]["n"] == 2


def test_examples_of_other_texts_are_not_paired():
    tests = compare_with_baseline(
        [cell("a", 0), cell("a", 1)], [cell("b", 0, scored_on="other"), cell("b", 1)], "test"
    )
    assert {each["n"] for each in tests if each["over"] == "examples" and each["metric"] == "correct"} == {2}


def test_shares_are_named_where_they_vary():
    cells = [cell("a", 0), cell("a", 0, gold_share=0.5), cell("b", 0, supervision="none")]
    assert list(rows_of(cells)["movies"]) == ["a, 25 % gold", "a, 50 % gold", "b"]
    cells = [cell("a", 0), cell("a", 0, augment="random")]
    assert list(rows_of(cells)["movies"]) == ["a", "a + random DA"]


def test_splits_stand_in_the_order_of_scoring_and_only_if_all_have_them():
    written = [cell("a", 0), cell("b", 0)]
    for each in written:
        part = each["results"]["test"]
        each["results"] = {"test": part, "sst2": part, "imdb": part}
    del written[1]["results"]["sst2"]
    assert shared_splits({each["cell"]["name"]: [each] for each in written}) == ["test", "imdb"]


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
    about = {**ABOUT, "name": "semi_rat"}
    figures = find_reported(about, "movies", "test")
    assert figures["token_f1_micro_piece"]["mean"] == pytest.approx(0.304)
    assert find_reported({**about, "augment": "random"}, "movies", "test") != figures
    augmented = {**about, "name": "ssr_virt", "method": "ssr_virt", "augment": "semantic"}
    assert find_reported(augmented, "fever", "test")["task_f1_weighted"]["mean"] == pytest.approx(0.889)
    assert find_reported({**about, "augment": "semantic"}, "fever", "test") is None, (
        "only SSR's row has FEVER"
    )
    assert find_reported({**about, "gold_share": 0.5}, "movies", "test") is None
    assert find_reported({**about, "uniform_weight": 0.1}, "movies", "test") is None
    unif = {**about, "method": "ssr_unif", "name": "ssr_unif"}
    assert find_reported({**unif, "uniform_weight": 0.1}, "movies", "test") is not None
    assert find_reported({**unif, "uniform_weight": 0.0}, "movies", "test") is None
    assert find_reported({**about, "name": "mine"}, "movies", "test") is None
    assert find_reported(about, "planted", "test") is None
    assert find_reported(about, "movies", "sst2") == {
        "task_f1_weighted": {"mean": pytest.approx(0.759), "sd": pytest.approx(0.007)},
        "comprehensiveness": {"mean": 0.23},
        "sufficiency": {"mean": 0.24},
    }
    assert find_reported({**about, "augment": "semantic"}, "movies", "sst2").keys() == {"task_f1_weighted"}
    assert find_reported(about, "movies", "val") is None
    assert find_reported(about, "multirc", "sst2") is None
    assert find_reported({**about, "method": "dar", "name": "dar"}, "movies", "test") is None
