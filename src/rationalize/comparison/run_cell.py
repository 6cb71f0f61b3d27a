"""One cell from data to its result file, resumably."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from pydantic import ValidationError

from rationalize.comparison.cells import Cell
from rationalize.comparison.plan import Plan
from rationalize.comparison.sources import fingerprint, scored_splits, training_data
from rationalize.config import RunConfig, differences, resolve_options
from rationalize.data.jsonl import read_jsonl, write_jsonl
from rationalize.errors import ConfigError, DataError
from rationalize.evaluation.evaluate import evaluate, to_instances
from rationalize.evaluation.faithfulness import faithfulness
from rationalize.files import json_line, read_json, to_json, write_text
from rationalize.inference.engine import Explained
from rationalize.methods.registry import method_class
from rationalize.metrics.instance import ScoredInstance
from rationalize.metrics.tokens import token_counts
from rationalize.training.loop import Display
from rationalize.training.run import environment, train
from rationalize.types import Example, Explanation

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

    def artefacts(self, cell: Cell) -> Path | None:
        """Where a cell shares artefacts with others; None: it keeps its own."""
        return self.runs / "artefacts" / cell.artefacts if cell.artefacts else None

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
    """

    cell: Cell
    identity: dict[str, Any]
    n_train: int
    n_gold: int
    n_scored: int
    n_read: int
    n_words: float


def checked(plan: Plan, cell: Cell) -> Checked:
    """Find everything that can be known to be wrong before training."""
    data = training_data(plan, cell)
    splits = scored_splits(plan, cell, data.labels)
    identity = {
        "config": cell.config.model_dump(mode="json"),
        "data": data.fingerprint(),
        "scored_on": fingerprint(splits),
        "truncate": plan.truncate,
        "faithfulness": plan.faithfulness,
    }
    n_scored = sum(len(examples) for examples in splits.values())
    n_words = fmean(len(example.text.split()) for example in data.train)
    n_read = n_scored * (1 if plan.faithfulness == "none" else 1 + REDUCED)
    return Checked(cell, identity, len(data.train), len(data.gold_ids), n_scored, n_read, n_words)


def read_result(path: Path) -> dict[str, Any]:
    """A cell's result file."""
    try:
        written: dict[str, Any] = read_json(path)
        _ = written["cell"]["name"], written["identity"]["config"], written["results"], written["seconds"]
    except (ValueError, KeyError, TypeError):
        raise DataError(f"{path}: not the result of a cell. Remove it, and it will be made again.") from None
    return written


def check_result(each: Checked, path: Path) -> None:
    """Refuse a result that was made with other settings or data."""
    old = read_result(path)["identity"]
    changed = differences({**old, "config": _completed(old["config"])}, each.identity)
    if changed:
        lines = "\n".join(f"  {line}" for line in changed)
        raise ConfigError(
            f"{path}: made with other settings or data.\n{lines}\nAdd --redo, or choose another --out."
        )


def _completed(config: dict[str, Any]) -> dict[str, Any]:
    """Settings of an earlier version; one that did not exist then had what is its default now."""
    try:
        return resolve_options(RunConfig.model_validate(config)).model_dump(mode="json")
    except (ValidationError, ConfigError):
        return config


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
    data = training_data(plan, cell)
    model = train(cell.config, data, folder, display, resume=True, artefacts=places.artefacts(cell))
    trained = time.monotonic() - began
    engine = model.engine()
    results, examples = {}, {}
    for split, scored in scored_splits(plan, cell, data.labels).items():
        display.message(f"scoring {len(scored)} examples of {split}")
        items = list(engine.explain(scored, truncate=plan.truncate))
        measured = None
        if plan.faithfulness != "none":
            display.message(f"reading reduced texts of {split}")
            measured = faithfulness(engine, items, removal=plan.faithfulness)
        results[split] = evaluate(items, split=split, seed=cell.config.seed, faithfulness=measured)
        examples[split] = columns(items)
        _keep_shown(folder / "shown", split, items[:SHOWN])
    written = {
        "cell": _about(cell),
        "seconds": {
            "training": round(trained, 1),
            "scoring": round(time.monotonic() - began - trained, 1),
        },
        "n": {"train": each.n_train, "gold": each.n_gold, "scored": each.n_scored},
        "environment": environment(),
        "identity": each.identity,
        "results": results,
        "examples": examples,
    }
    write_text(places.result(cell), _compact(written))
    _drop_weights(folder, keep_models=places.keep_models)


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


def columns(items: Sequence[Explained]) -> dict[str, list[float | None]]:
    """One number per example, in their order: label right, token F1, shortcut words of the selected ones."""
    table: dict[str, list[float | None]] = {"correct": [], "token_f1": [], "shortcut_share": []}
    for item in items:
        instances = to_instances(item)
        gold, said = instances[0].gold_label, instances[0].label
        scores = [score for each in instances if (score := _token_f1(each)) is not None]
        table["correct"].append(None if gold is None else int(said == gold))
        table["token_f1"].append(round(sum(scores) / len(scores), 4) if scores else None)
        table["shortcut_share"].append(_shortcut_share(instances))
    return table


def _token_f1(instance: ScoredInstance) -> float | None:
    """As ERASER has it: where neither gold nor selected words are, nothing is counted."""
    if instance.gold is None:
        return None
    counts = token_counts(instance.gold_mask, instance.selected)
    return 2 * counts.hits / (counts.gold + counts.predicted) if counts.gold + counts.predicted else None


def _shortcut_share(instances: Sequence[ScoredInstance]) -> float | None:
    """Of the selected words; 0 where nothing is selected, None where shortcuts are not known."""
    known = [each for each in instances if each.shortcut_words is not None]
    counts = [token_counts(each.shortcut_words or (), each.selected) for each in known]
    selected = sum(each.predicted for each in counts)
    if not known:
        return None
    return round(sum(each.hits for each in counts) / selected, 4) if selected else 0.0


def _keep_shown(folder: Path, split: str, items: Sequence[Explained]) -> None:
    folder.mkdir(exist_ok=True)
    write_jsonl(folder / f"{split}.jsonl", [item.encoded.example for item in items])
    rows = "".join(json_line(item.explanation.to_dict()) for item in items)
    write_text(folder / f"{split}-explained.jsonl", rows)


def read_shown(folder: Path, split: str) -> list[tuple[Example, Explanation]]:
    """The examples of a cell's run that are kept to be shown; none if the run folder is gone."""
    examples, explained = (folder / "shown" / f"{split}{part}.jsonl" for part in ("", "-explained"))
    if not (examples.is_file() and explained.is_file()):
        return []
    rows = explained.read_text(encoding="utf-8").splitlines()
    return list(
        zip(read_jsonl(examples), [Explanation.from_dict(json.loads(row)) for row in rows], strict=True)
    )


def _compact(written: dict[str, Any]) -> str:
    """JSON with one line per part: hundreds of numbers are not read one by one."""
    lines = [f"  {to_json(name)}: {to_json(value, indent=None)}" for name, value in written.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _drop_weights(folder: Path, *, keep_models: bool) -> None:
    names = ["checkpoints"] if keep_models else ["checkpoints", "model"]
    for path in [found for name in names for found in folder.rglob(name)]:
        shutil.rmtree(path, ignore_errors=True)
