"""One cell from data to its result file, resumably."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from rationalize.comparison.cells import Cell
from rationalize.comparison.per_example import columns
from rationalize.comparison.plan import Plan
from rationalize.comparison.result_file import write_result
from rationalize.comparison.shown import keep_shown
from rationalize.comparison.sources import cell_training_data, fingerprint, scored_splits
from rationalize.data.splits import limit
from rationalize.devices import resolve_device
from rationalize.evaluation.faithfulness import faithfulness
from rationalize.evaluation.query_alone import predict_queries
from rationalize.evaluation.scoring import evaluate
from rationalize.methods.registry import method_class
from rationalize.reporting.card import render_card
from rationalize.runs.preparation import check_shortcuts
from rationalize.runs.provenance import describe_environment
from rationalize.runs.run import train
from rationalize.runs.settings import identify
from rationalize.runs.warm_start import classifier_name, warm_up
from rationalize.training.loop import Display
from rationalize.types import Example

REDUCED = 12
"""Explaining a text in all its reduced versions costs about as much as explaining it so many times."""
SHOWN = 6
"""Documents per split whose explanations are kept for the report."""


@dataclass(frozen=True)
class Places:
    """Where runs and results lie."""

    runs: Path
    results: Path
    keep_models: bool = False

    def run(self, cell: Cell) -> Path:
        """The run folder of a cell."""
        return self.runs / cell.key

    def result(self, cell: Cell) -> Path:
        """The result file of a cell."""
        return self.results / f"{cell.key}.json"


@dataclass(frozen=True)
class Checked:
    """A cell whose data have been read and found usable.

    Attributes:
        cell: The cell.
        identity: What its result depends on: settings, and hashes of the data.
        n_train: Training examples.
        n_gold: Those with a gold rationale that may be used.
        n_scored: Examples that it is scored on.
        n_read: Texts to be read for that, reduced ones for faithfulness counted as the whole ones that they cost.
        n_words: Words of an average training text.
        warm_start: Name of the classifier that its encoders start from, if any; cells can have it in common.
    """

    cell: Cell
    identity: dict[str, Any]
    n_train: int
    n_gold: int
    n_scored: int
    n_read: int
    n_words: float
    warm_start: str | None = None

    @property
    def artifacts(self) -> str | None:
        """The name of the artifacts that the cell shares with others on the same data; None: it keeps its own."""
        return self.cell.artifacts and f"{self.cell.artifacts}-{self.identity['data'][:8]}"


def check_cell(plan: Plan, cell: Cell) -> Checked:
    """Find everything that can be known to be wrong before training."""
    resolve_device(cell.config.device)
    data = cell_training_data(plan, cell)
    check_shortcuts(cell.config, data)
    splits = scored_splits(plan, cell, data.labels)
    identity = {
        "config": identify(cell.config),
        "data": data.fingerprint(),
        "scored_on": fingerprint(splits),
        "truncate": plan.truncate,
        "faithfulness": plan.faithfulness,
        **({} if plan.faithfulness_limit is None else {"faithfulness_limit": plan.faithfulness_limit}),
    }
    n_scored = sum(len(examples) for examples in splits.values())
    n_words = fmean(len(example.text.split()) for example in data.train)
    n_read = n_scored
    if plan.faithfulness != "none":
        n_read += REDUCED * sum(len(_sample(plan, examples)) for examples in splits.values())
    return Checked(
        cell,
        identity,
        len(data.train),
        len(data.gold_ids),
        n_scored,
        n_read,
        n_words,
        classifier_name(cell.config, data),
    )


def forget(cell: Cell, places: Places) -> None:
    """Remove what is there of a cell."""
    places.result(cell).unlink(missing_ok=True)
    shutil.rmtree(places.run(cell), ignore_errors=True)


def run_cell(plan: Plan, each: Checked, places: Places, display: Display) -> None:
    """Train, score, write the result, drop the weights; nothing, if somebody else has done it meanwhile."""
    if places.result(each.cell).is_file():
        return
    began = time.monotonic()
    cell, folder = each.cell, places.run(each.cell)
    data = cell_training_data(plan, cell)
    shared = places.runs / "artifacts" / each.artifacts if each.artifacts else None
    if each.warm_start:
        data = warm_up(cell.config, data, places.runs / "artifacts" / each.warm_start, display, train)
    model = train(
        cell.config,
        data,
        folder,
        display,
        resume=True,
        artifacts=shared or folder / "artifacts",
        truncate=plan.truncate,
        card=render_card,
    )
    trained = time.monotonic() - began
    engine = model.engine()
    results, examples = {}, {}
    for split, scored in scored_splits(plan, cell, data.labels).items():
        display.message(f"scoring {len(scored)} examples of {split}")
        items = list(engine.explain(scored, truncate=plan.truncate))
        measured = None
        if plan.faithfulness != "none":
            display.message(f"reading reduced texts of {split}")
            chosen = {example.id for example in _sample(plan, scored)}
            reduced = [item for item in items if item.encoded.example.id in chosen]
            measured = faithfulness(engine, reduced, removal=plan.faithfulness)
        results[split] = evaluate(
            items,
            split=split,
            seed=cell.config.seed,
            faithfulness=measured,
            of_queries=predict_queries(engine, scored),
        )
        examples[split] = columns(items)
        keep_shown(folder / "shown", split, items[:SHOWN])
    written = {
        "cell": _about(cell),
        "seconds": {
            "training": round(trained, 1),
            "scoring": round(time.monotonic() - began - trained, 1),
        },
        "n": {"train": each.n_train, "gold": each.n_gold, "scored": each.n_scored},
        "environment": describe_environment(),
        "identity": each.identity,
        "results": results,
        "examples": examples,
    }
    write_result(places.result(cell), written)
    _drop_weights(folder, keep_models=places.keep_models)


def _sample(plan: Plan, examples: Sequence[Example]) -> Sequence[Example]:
    """The examples whose reduced texts are read."""
    return limit(examples, plan.faithfulness_limit) if plan.faithfulness_limit else examples


def _about(cell: Cell) -> dict[str, Any]:
    config = cell.config
    return {
        "key": cell.key,
        "name": cell.name,
        "data": cell.data,
        "seed": config.seed,
        "method": config.method,
        "supervision": method_class(config.method).about.supervision,
        "augment": config.augment.kind,
        "augment_share": config.augment.share,
        "gold_share": config.data.gold_share,
        "uniform_weight": config.shortcuts.uniform_weight,
    }


def _drop_weights(folder: Path, *, keep_models: bool) -> None:
    names = ["checkpoints"] if keep_models else ["checkpoints", "model"]
    for path in [found for name in names for found in folder.rglob(name)]:
        shutil.rmtree(path, ignore_errors=True)
