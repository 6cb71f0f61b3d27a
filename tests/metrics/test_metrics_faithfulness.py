from __future__ import annotations

import math

import pytest
from metrics_golden import GOLDEN, cases, close

from rationalize.errors import DataError
from rationalize.metrics.ablations import (
    Ablation,
    comprehensiveness,
    comprehensiveness_aopc,
    entropy,
    entropy_difference,
    faithfulness_row,
    kl_divergence,
    sufficiency_aopc,
)

NAMES = ["comprehensiveness", "sufficiency", "comprehensiveness_aopc", "sufficiency_aopc"]
NAMES += [f"{side}_{kind}" for side in NAMES[:2] for kind in ("entropy", "kl")]


def ablations(case):
    return [
        Ablation(
            row["full"],
            row.get("without"),
            row.get("only"),
            {share: without for share, without, _ in row.get("bins", [])},
            {share: only for share, _, only in row.get("bins", [])},
            label=row["label"],
        )
        for row in case["results"]
    ]


@cases("classification")
def test_eraser_faithfulness(case):
    expected = case["expected"]
    if expected.get("error") == "AssertionError":
        with pytest.raises(DataError, match=r"no probabilities at bin 0\.5"):
            faithfulness_row(ablations(case), case["aopc_bins"])
        return
    row = faithfulness_row(ablations(case), case["aopc_bins"])
    for name in NAMES:
        # The reference stops at the unknown label; without measurements there is no number.
        wanted = expected.get(name) if "error" not in expected else None
        assert row[name] == (None if wanted is None else close(wanted)), name


@pytest.mark.parametrize("name", ["aopc_default_bins", "aopc_subset_of_bins", "aopc_bins_from_file"])
def test_aopc_points(name):
    case = GOLDEN["classification"][name]
    for side, curve_of in (("comprehensiveness", comprehensiveness_aopc), ("sufficiency", sufficiency_aopc)):
        curve = curve_of(ablations(case), case["aopc_bins"])
        assert list(curve.bins) == case["expected"]["aopc_thresholds"]
        assert list(curve.points) == close(case["expected"][f"{side}_aopc_points"])
        row = faithfulness_row(ablations(case), case["aopc_bins"])
        assert row[f"{side}@0.5"] == close(case["expected"][f"{side}_aopc_points"][-1])


@cases("end_to_end", refused=False)
def test_eraser_end_to_end_faithfulness(case):
    row = faithfulness_row(ablations(case))
    expected = case["expected"]["classification_scores"]
    assert {name: row[name] for name in NAMES if row[name] is not None} == {
        name: close(expected[name]) for name in NAMES if expected[name] is not None
    }


def test_the_most_probable_class_is_followed_unless_another_is_named():
    full, without = {"a": 0.8, "b": 0.2}, {"a": 0.5, "b": 0.5}
    assert comprehensiveness([Ablation(full, without)]) == close(0.3)
    assert comprehensiveness([Ablation(full, without, label="b")]) == close(-0.3)


def test_entropy_and_divergence_are_of_what_sums_to_one():
    weights, even = {"a": 3.0, "b": 1.0}, {"a": 0.1, "b": 0.1}
    sure = 0.75 * math.log(0.75) + 0.25 * math.log(0.25)
    assert entropy(weights) == close(-sure)
    assert entropy(even) == close(math.log(2))
    assert entropy_difference(even, weights) == close(math.log(2) + sure)
    assert kl_divergence(even, weights) == close(0.75 * math.log(1.5) + 0.25 * math.log(0.5))


def test_an_infinite_divergence_is_none():
    full, only = {"a": 1.0, "b": 0.0}, {"a": 0.5, "b": 0.5}
    assert kl_divergence(full, only) is None
    assert kl_divergence(only, full) == close(math.log(2))
    assert faithfulness_row([Ablation(full, only=only), Ablation(only, only=only)])["sufficiency_kl"] is None
    assert entropy(full) == 0


def test_numbers_are_over_the_examples_that_have_them():
    full = {"a": 1.0}
    row = faithfulness_row([Ablation(full), Ablation(full, only={"a": 0.5}, flip_share=0.25)])
    assert (row["sufficiency"], row["tokens_to_flip"], row["comprehensiveness"]) == (0.5, 0.25, None)
    assert set(faithfulness_row([]).values()) == {None}


@pytest.mark.parametrize(
    ("full", "only", "label"),
    [
        ({"a": 1.0}, {"b": 1.0}, None),
        ({"a": 1.0}, {"a": 1.0}, "b"),
        ({"a": math.nan}, None, None),
        ({"a": 1.1, "b": -0.1}, None, None),
        ({"a": 1.0, "b": math.inf}, None, None),
        ({"a": 0.0}, None, None),
        ({}, None, None),
    ],
)
def test_unusable_probabilities_are_refused(full, only, label):
    with pytest.raises(DataError, match="Class probabilities"):
        Ablation(full, only=only, label=label)
