"""Evaluations made up by hand."""

from __future__ import annotations

from dataclasses import replace

from rationalize.evaluation.evaluation import Evaluation
from rationalize.metrics.health import SelectorHealth, ShareOf
from rationalize.metrics.named_metrics import TrivialRow
from rationalize.metrics.probe import Probe

PROBE = Probe(accuracy=0.75, majority=0.5, p_value=0.1, n=8)
HEALTH = SelectorHealth(
    selected_share=0.25,
    selected_share_std=0.1,
    empty_share=0.0,
    by_predicted={"NEG": ShareOf(selected=0.2, empty=0.0, n=4)},
    by_gold={},
    probe_predicted=PROBE,
    probe_gold=PROBE,
    warnings=("The selector selects almost nothing.",),
)


def make_evaluation(**changes) -> Evaluation:
    trivial = {"token_f1_eraser": 0.2, "selected_fraction": 0.25}
    values = {
        "split": "test",
        "method": "semi_rat",
        "faithful": True,
        "labels": ("NEG", "POS"),
        "n_examples": 8,
        "metrics": {
            "task_f1_weighted": 0.875,
            "token_f1_eraser": 0.5,
            "auprc": None,
            "selected_fraction": 0.25,
        },
        "trivial": {
            "all": TrivialRow({**trivial, "token_f1_eraser": 0.4}, 1.0, "all"),
            **{selector: TrivialRow(trivial, 0.25, "model") for selector in ("random", "first", "last")},
        },
        "health": HEALTH,
        "confusion": {"NEG": {"NEG": 3, "POS": 1}, "POS": {"NEG": 0, "POS": 4}},
    }
    return Evaluation(**(values | changes))


def with_metrics(evaluation: Evaluation, **metrics) -> Evaluation:
    return replace(evaluation, metrics={**evaluation.metrics, **metrics})


def with_trivial(
    evaluation: Evaluation, selector: str, *, share: float | None = None, **metrics
) -> Evaluation:
    row = evaluation.trivial[selector].add(metrics)
    row = row if share is None else replace(row, share=share)
    return replace(evaluation, trivial={**evaluation.trivial, selector: row})
