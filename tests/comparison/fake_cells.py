"""Results of cells, made up."""

from __future__ import annotations

from dataclasses import replace

from made_results import HEALTH, make_evaluation
from rationalize.comparison._cell_result import (
    CellFacts,
    CellResult,
    ExampleColumns,
    Identity,
    Seconds,
    Sizes,
)
from rationalize.metrics.named_metrics import TrivialRow

FACTS = CellFacts(
    key="", name="", data="movies", seed=0, method="semi_rat", supervision="part", augment="none",
    augment_share=0.25, gold_share=0.25, uniform_weight=0.0,
)  # fmt: skip


def cell(name, seed, *, task=0.5, ood=0.25, correct=(1, 0), shares=(0.5, 0.0), scored_on="same", **facts):
    def result(split, score):
        return make_evaluation(
            split=split,
            n_examples=2,
            metrics={"task_f1_weighted": score, "token_f1_eraser": 0.4, "shortcut_share": 0.2},
            trivial={"all": TrivialRow({"token_f1_eraser": score}, 1.0, "all")},
            health=replace(HEALTH, warnings=()),
        )

    columns = ExampleColumns(tuple(correct), (None, 0.5), tuple(shares))
    return CellResult(
        cell=replace(FACTS, name=name, seed=seed, **facts),
        seconds=Seconds(1.0, 0.5),
        n=Sizes(8, 2, 2),
        environment={"python": "3.11"},
        identity=Identity({}, "data", scored_on, truncate=False, faithfulness="none"),
        results={"test": result("test", task), "ood": result("ood", ood)},
        examples={"test": columns, "ood": columns},
    )
