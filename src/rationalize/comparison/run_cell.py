"""Run one cell, resumably, from data to result file."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from rationalize.comparison._cell_clock import CellClock, TickingDisplay
from rationalize.comparison._cell_result import (
    CellFacts,
    CellResult,
    ExampleColumns,
    Identity,
    Sizes,
)
from rationalize.comparison._result_file import keep_shown, write_result
from rationalize.comparison._sources import hash_splits, read_scored_splits, read_training_data
from rationalize.comparison.cells import Cell
from rationalize.comparison.plan import Plan
from rationalize.devices import resolve_device
from rationalize.evaluation.bag_of_words import BagOfWords, read_bag
from rationalize.evaluation.evaluation import Evaluation
from rationalize.evaluation.recipe import REDUCED, evaluate_model, sample_for_faithfulness
from rationalize.files import remove_folder
from rationalize.inference.engine import Engine
from rationalize.methods.registry import method_class
from rationalize.methods.uniform import choose_uniform_weight
from rationalize.reporting.card import render_card
from rationalize.runs.preparation import check_shortcuts
from rationalize.runs.provenance import describe_environment
from rationalize.runs.run import train, train_first
from rationalize.runs.settings import check_layers, identify
from rationalize.runs.warm_start import name_classifier, warm_up
from rationalize.training.loop import Display

SHOWN = 6
"""Documents per split whose explanations are kept for the report."""


@dataclass(frozen=True)
class Places:
    """Where runs and results are."""

    runs: Path
    results: Path
    keep_models: bool = False

    def run(self, cell: Cell) -> Path:
        """Return the run folder of a cell."""
        return self.runs / cell.key

    def shown(self, cell: Cell) -> Path:
        """Return the folder with the explanations of a cell that are kept for the report."""
        return self.run(cell) / "shown"

    def artifacts(self, name: str) -> Path:
        """Return the folder of artifacts that cells share."""
        return self.runs / "artifacts" / name

    def clock(self, cell: Cell) -> Path:
        """Return the file with the time that an unfinished cell has taken."""
        return self.runs / "clocks" / f"{cell.key}.json"

    def result(self, cell: Cell) -> Path:
        """Return the result file of a cell."""
        return self.results / f"{cell.key}.json"


@dataclass(frozen=True)
class Checked:
    """A cell whose data have been read and found usable.

    Attributes:
        cell: The cell.
        identity: What its result depends on: settings, and hashes of the data.
        n_train: Number of training examples.
        n_gold: Number of them with a usable gold rationale.
        n_scored: Number of examples to score.
        n_read: Texts to read for that; reduced texts count as the whole texts that they cost.
        n_words: Mean number of words in a training text.
        n_classes: Number of labels.
        warm_start: Name of the classifier that its encoders start from, if any; cells can share it.
    """

    cell: Cell
    identity: Identity
    n_train: int
    n_gold: int
    n_scored: int
    n_read: int
    n_words: float
    n_classes: int = 2
    warm_start: str | None = None

    @property
    def artifacts(self) -> str | None:
        """The name of the artifacts that the cell shares with others on the same data; None: it shares none."""
        return self.cell.artifacts and f"{self.cell.artifacts}-{self.identity.data[:8]}"


def check_cell(plan: Plan, cell: Cell, *, on: str | None = None) -> Checked:
    """Find all problems that can be known before training; `on`: the cluster that it will run on, if any."""
    if on is None:
        resolve_device(cell.config.device)
    else:
        plan.resources.check_device(cell.config.device)
    data = read_training_data(plan, cell)
    check_shortcuts(cell.config, data)
    check_layers(cell.config)
    splits = read_scored_splits(plan, cell, data.labels)
    identity = Identity(
        config=identify(cell.config),
        data=data.fingerprint(),
        scored_on=hash_splits(splits),
        truncate=plan.truncate,
        faithfulness=plan.faithfulness,
        faithfulness_limit=plan.faithfulness_limit,
    )
    n_scored = sum(len(examples) for examples in splits.values())
    n_words = fmean(len(example.text.split()) for example in data.train)
    n_read = n_scored
    if plan.faithfulness != "none":
        samples = [sample_for_faithfulness(examples, plan.faithfulness_limit) for examples in splits.values()]
        n_read += REDUCED * sum(map(len, samples))
    return Checked(
        cell,
        identity,
        len(data.train),
        len(data.gold_ids),
        n_scored,
        n_read,
        n_words,
        len(data.labels),
        name_classifier(cell.config, data),
    )


def remove_cell(cell: Cell, places: Places) -> None:
    """Remove the result and the run of a cell."""
    places.result(cell).unlink(missing_ok=True)
    places.clock(cell).unlink(missing_ok=True)
    shutil.rmtree(places.run(cell), ignore_errors=True)


def run_cell(plan: Plan, each: Checked, places: Places, display: Display) -> None:
    """Train, score, write the result, drop the weights; do nothing if another process has done it meanwhile."""
    if places.result(each.cell).is_file():
        return
    cell, folder = each.cell, places.run(each.cell)
    clock = CellClock(places.clock(cell))
    display = TickingDisplay(display, clock)
    data = read_training_data(plan, cell)
    shared = places.artifacts(each.artifacts) if each.artifacts else None
    if each.warm_start:
        data = warm_up(cell.config, data, places.artifacts(each.warm_start), display, train_first)
    model = train(
        cell.config,
        data,
        folder,
        display,
        resume=True,
        artifacts=shared or folder / "artifacts",
        truncate=plan.truncate,
        bag=True,
        card=render_card,
    )
    clock.score()
    bag = read_bag(folder)
    results, examples = _score(plan, cell, data.labels, model.engine(), bag, folder, display, clock)
    sizes = Sizes(each.n_train, each.n_gold, each.n_scored)
    environment = describe_environment()
    written = CellResult(
        _describe_cell(cell), clock.read(), sizes, environment, each.identity, results, examples
    )
    write_result(places.result(cell), written)
    _drop_weights(folder, keep_models=places.keep_models)
    clock.close()  # last: that it is still there tells a later comparison that this one did not get so far


def tidy_cell(cell: Cell, places: Places) -> None:
    """Drop what a comparison left that was killed after it wrote the cell's result."""
    if places.clock(cell).is_file() and places.result(cell).is_file():
        _drop_weights(places.run(cell), keep_models=places.keep_models)
        places.clock(cell).unlink(missing_ok=True)


def _score(
    plan: Plan,
    cell: Cell,
    labels: Sequence[str],
    engine: Engine,
    bag: BagOfWords | None,
    folder: Path,
    display: Display,
    clock: CellClock,
) -> tuple[dict[str, Evaluation], dict[str, ExampleColumns]]:
    """Score every split; keep a few explanations in the folder for the report."""
    results: dict[str, Evaluation] = {}
    examples: dict[str, ExampleColumns] = {}
    for split, scored in read_scored_splits(plan, cell, labels).items():
        reduced = "" if plan.faithfulness == "none" else " and their reduced texts"
        display.message(f"scoring {len(scored)} examples of {split}{reduced}")
        found = evaluate_model(
            engine,
            scored,
            split=split,
            truncate=plan.truncate,
            faithfulness=None if plan.faithfulness == "none" else plan.faithfulness,
            faithfulness_limit=plan.faithfulness_limit,
            seed=cell.config.seed,
            on_progress=lambda done, total: clock.tick(),
            bag=bag,
        )
        examples[split] = ExampleColumns.of(found.explained)
        keep_shown(folder / "shown", split, found.explained[:SHOWN])
        results[split] = replace(found, explained=(), measured=None)  # too large to keep for all splits
    return results, examples


def _describe_cell(cell: Cell) -> CellFacts:
    config, about = cell.config, method_class(cell.config.method).about
    return CellFacts(
        key=cell.key,
        name=cell.name,
        data=cell.data,
        seed=config.seed,
        method=config.method,
        supervision=about.supervision,
        augment=config.augment.kind,
        augment_share=config.augment.share,
        gold_share=config.data.gold_share,
        uniform_weight=choose_uniform_weight(about, config.shortcuts),
    )


def _drop_weights(folder: Path, *, keep_models: bool) -> None:
    names = ["checkpoints"] if keep_models else ["checkpoints", "model"]
    for path in [found for name in names for found in folder.rglob(name)]:
        remove_folder(path)
