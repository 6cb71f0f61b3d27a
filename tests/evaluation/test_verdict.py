"""Every sentence of a verdict, from scores made up by hand."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from made_results import HEALTH, make_evaluation, with_metrics, with_trivial
from rationalize.evaluation.verdict import find_interval, judge
from rationalize.metrics.intervals import wilson
from rationalize.metrics.significance import Interval

CALM = replace(HEALTH, warnings=())


def evaluation(**metrics):
    """400 examples, 80 ± 4 of task F1 and 50 ± 3 of token F1, unless given otherwise; 20 at random."""
    given = {"task_f1_weighted": 0.8, "token_f1_eraser": 0.5, **metrics}
    reach = {"token_f1_eraser": 0.03}
    intervals = {
        name: Interval(value - reach.get(name, 0.04), value + reach.get(name, 0.04))
        for name, value in given.items()
        if value is not None
    }
    found = make_evaluation(n_examples=400, health=CALM, intervals=intervals, split="dev")
    return with_metrics(found, **given)


def compare(topic, found):
    (comparison,) = [each for each in judge(found).comparisons if each.topic == topic]
    return comparison


@pytest.mark.parametrize(
    ("reference", "answer", "sentence"),
    [
        (0.75, "above", "The label is above {} (task F1 80.0 ± 4.0 against 75.0)."),
        (0.77, "no better", "The label is no better than {} (task F1 80.0 ± 4.0 against 77.0)."),
        (0.83, "no better", "The label is no better than {} (task F1 80.0 ± 4.0 against 83.0)."),
        (0.85, "below", "The label is below {} (task F1 80.0 ± 4.0 against 85.0)."),
    ],
)
@pytest.mark.parametrize(("topic", "name"), [("query", "the query alone"), ("bag", "a bag of words")])
def test_the_label_is_compared_by_its_interval(topic, name, reference, answer, sentence):
    found = compare(topic, evaluation(**{f"task_f1_weighted_{topic}": reference}))
    assert (found.answer, found.holds) == (answer, answer == "above")
    assert found.text == sentence.format(name)


@pytest.mark.parametrize(
    ("best", "said", "holds"), [(0.4, "above", True), (0.48, "no better than", False), (0.6, "below", False)]
)
def test_the_rationale_is_compared_with_the_best_selector_at_its_share(best, said, holds):
    found = compare("selectors", with_trivial(evaluation(), "first", token_f1_eraser=best))
    assert found.text == (
        f"The rationale is {said} the best selector that ignores the text at its share "
        f"(token F1 50.0 ± 3.0 against {100 * best:.1f})."
    )
    assert found.holds == holds


def test_selecting_everything_is_not_at_its_share():
    assert compare("selectors", with_trivial(evaluation(), "all", token_f1_eraser=0.9)).answer == "above"


@pytest.mark.parametrize(
    ("full", "said", "holds"), [(0.7, "above", True), (0.82, "near", True), (0.9, "below", False)]
)
def test_the_label_of_the_rationale_is_compared_with_that_of_the_full_text(full, said, holds):
    found = compare("full_text", evaluation(task_f1_weighted_rationale=0.8, task_f1_weighted_full_text=full))
    assert found.text == (
        f"The label from the rationale alone is {said} that from the full text "
        f"(task F1 80.0 ± 4.0 against {100 * full:.1f})."
    )
    assert found.holds == holds


def test_what_is_not_known_is_not_compared():
    bare = evaluation(token_f1_eraser=None)
    assert judge(bare).comparisons == ()
    assert judge(bare).summary == "Verdict on dev (400 examples): nothing to compare with."


def test_a_good_model_is_called_good():
    verdict = judge(evaluation(task_f1_weighted_bag=0.7))
    assert verdict.good
    assert verdict.summary == "Verdict on dev (400 examples): good; 2 of 2 comparisons hold."
    assert verdict.advice == (
        "Score it on texts that neither training nor the choice of the epoch has seen (split test).",
    )


def test_failures_and_warnings_are_counted():
    found = replace(evaluation(task_f1_weighted_bag=0.9), health=HEALTH)
    verdict = judge(found)
    assert not verdict.good
    assert verdict.summary == (
        "Verdict on dev (400 examples): not good yet; 1 of 2 comparisons hold, 1 warning."
    )
    assert verdict.list_lines()[3] == "! The selector selects almost nothing."


@pytest.mark.parametrize(
    ("changes", "advice"),
    [
        ({"task_f1_weighted_query": 0.8}, "`rationalize shortcuts audit --queries`"),
        ({"task_f1_weighted_bag": 0.8}, "training.warm_start=2"),
        ({"token_f1_eraser": 0.2}, "options.supervision.select_weight=5"),
        (
            {"task_f1_weighted_rationale": 0.6, "task_f1_weighted_full_text": 0.9},
            "a larger options.selection.share",
        ),
        ({"token_f1_eraser": None}, "nobody knows whether the rationales are right"),
    ],
)
def test_each_failure_has_its_advice(changes, advice):
    (found,) = judge(evaluation(**changes)).advice
    assert advice in found


def test_a_method_without_gold_is_advised_to_use_some():
    (found,) = judge(replace(evaluation(token_f1_eraser=0.2), method="un_rat")).advice
    assert "train semi_rat or ssr_unif" in found
    (unknown,) = judge(replace(evaluation(token_f1_eraser=0.2), method="nobody's")).advice
    assert unknown == found


def test_a_label_below_a_bag_of_words_is_not_blamed_on_the_share():
    found = evaluation(
        task_f1_weighted_bag=0.9, task_f1_weighted_rationale=0.5, task_f1_weighted_full_text=0.8
    )
    (advice,) = judge(found).advice
    assert "The label can still be learned better" in advice


def test_few_examples_and_warnings_bring_advice():
    found = judge(replace(evaluation(), n_examples=100, health=HEALTH)).advice
    assert found == (
        "Look at rationales before you trust them: another seed, method or options.selection.share. If how much is "
        "selected tells the label, options.selection.sparsity=instance holds the share in every text.",
        "100 examples say little: give at least 300 for dev.",
    )


def test_the_worst_verdict_fits_on_a_screen():
    bad = dict.fromkeys(("query", "bag"), 0.9)
    found = evaluation(
        **{f"task_f1_weighted_{name}": value for name, value in bad.items()},
        task_f1_weighted_rationale=0.5,
        task_f1_weighted_full_text=0.9,
        token_f1_eraser=0.1,
    )
    found = replace(found, n_examples=50, health=replace(HEALTH, warnings=tuple("abcdefgh")))
    lines = judge(found).list_lines()
    assert len(lines) <= 15
    assert str(judge(found)) == "\n".join(lines)
    assert sum(line.startswith("!") for line in lines) == 4


def test_it_is_ready_for_json():
    row = json.loads(json.dumps(judge(evaluation(task_f1_weighted_bag=0.7)).to_dict()))
    assert row["good"] is True
    assert row["comparisons"][0]["topic"] == "bag"
    assert row["comparisons"][0]["reference"] == 0.7


def test_scores_without_a_kept_interval_get_wilsons():
    old = make_evaluation(n_examples=100)
    assert find_interval(old, "task_f1_weighted") == wilson(0.875, 100)
    assert find_interval(old, "auprc") is None
