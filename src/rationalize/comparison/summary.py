"""From cells to numbers: rows of the tables, means over seeds, and tests against the baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, stdev
from typing import Any

from rationalize.metrics.significance import bootstrap_interval, paired_t_p, permutation_p

Written = Mapping[str, Any]
"""A cell's result file."""
CellRows = Mapping[str, Sequence[Written]]
"""The cells of each row of a table: the same but for the seed."""

OVER_EXAMPLES = ("correct", "token_f1", "shortcut_share")
OVER_SEEDS = ("task_f1_weighted", "token_f1_eraser", "shortcut_share", "ood_task_f1_weighted", "ood_drop")


def rows_of(cells: Sequence[Written]) -> dict[str, dict[str, list[Written]]]:
    """Cells by data set and row; gold and augmented shares are named where they vary."""
    partly = {cell["cell"]["gold_share"] for cell in cells if cell["cell"]["supervision"] == "part"}
    copies = {cell["cell"]["augment_share"] for cell in cells if cell["cell"]["augment"] != "none"}
    varied = {"gold_share": len(partly) > 1, "augment_share": len(copies) > 1}
    found: dict[str, dict[str, list[Written]]] = {}
    for cell in cells:
        about = cell["cell"]
        name = _row_name(about, **varied)
        found.setdefault(about["data"], {}).setdefault(name, []).append(cell)
    return found


def _row_name(about: Mapping[str, Any], *, gold_share: bool, augment_share: bool) -> str:
    name = str(about["name"])
    if about["augment"] != "none":
        share = f" {100 * about['augment_share']:g} %" if augment_share else ""
        name += f" + {about['augment']} DA{share}"
    named = gold_share and about["supervision"] == "part"
    return name + (f", {100 * about['gold_share']:g} % gold" if named else "")


def shared_splits(rows: CellRows) -> list[str]:
    """Splits that every cell was scored on, in the order of scoring: its own data before others'."""
    splits = [list(cell["results"]) for cells in rows.values() for cell in cells]
    return [name for name in splits[0] if all(name in each for each in splits)]


def mean_of(values: Sequence[Any]) -> dict[str, Any] | None:
    """Mean, standard deviation and number of the values that are there."""
    numbers = [float(value) for value in values if _is_number(value)]
    if not numbers:
        return None
    return {"mean": fmean(numbers), "sd": stdev(numbers) if len(numbers) > 1 else None, "n": len(numbers)}


def summarize_row(cells: Sequence[Written], split: str) -> dict[str, Any]:
    """The results of one row on one split, as one result with means."""
    results = [cell["results"][split] for cell in cells]
    names = list(dict.fromkeys(name for each in results for name in each["metrics"]))
    metrics = {name: mean_of([each["metrics"].get(name) for each in results]) for name in names}
    if split != "ood" and all("ood" in cell["results"] for cell in cells):
        for name in ("ood_task_f1_weighted", "ood_drop"):
            metrics[name] = mean_of([run_metric(cell, split, name) for cell in cells])
    return {
        "split": split,
        "method": results[0]["method"],
        "n_examples": results[0]["n_examples"],
        "metrics": metrics,
        "trivial": {name: _mean_trivial(results, name) for name in results[0]["trivial"]},
        "warnings": sum(bool(each["health"]["warnings"]) for each in results),
        "runs": len(results),
        "seconds": mean_of([sum(cell["seconds"].values()) for cell in cells]),
    }


def _mean_trivial(results: Sequence[Written], selector: str) -> dict[str, Any]:
    rows = [each["trivial"][selector] for each in results]
    numbers = {
        name: fmean(row[name] for row in rows)
        for name in rows[0]
        if all(_is_number(row.get(name)) for row in rows)
    }
    return {**rows[0], **numbers}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def run_metric(cell: Written, split: str, name: str) -> float | None:
    """A number of one run; `ood_drop` is task F1 on the split minus that on ood."""
    results = cell["results"]
    if not name.startswith("ood_"):
        value: float | None = results[split]["metrics"].get(name)
        return value
    inside, outside = (results.get(each, {"metrics": {}})["metrics"] for each in (split, "ood"))
    scores = (inside.get("task_f1_weighted"), outside.get("task_f1_weighted"))
    if scores[0] is None or scores[1] is None:
        return None
    return float(scores[0] - scores[1]) if name == "ood_drop" else float(scores[1])


def compare_with_baseline(
    ours: Sequence[Written], base: Sequence[Written], split: str
) -> list[dict[str, Any]]:
    """Paired tests of a row against the baseline, on the seeds that both have."""
    by_seed = {cell["cell"]["seed"]: cell for cell in base}
    pairs = [(cell, by_seed[cell["cell"]["seed"]]) for cell in ours if cell["cell"]["seed"] in by_seed]
    tests = [_over_examples(pairs, split, name) for name in OVER_EXAMPLES]
    tests += [_over_seeds(pairs, split, name) for name in OVER_SEEDS] if split != "ood" else []
    return [test for test in tests if test is not None]


def _over_examples(pairs: Sequence[tuple[Written, Written]], split: str, name: str) -> dict[str, Any] | None:
    """Over the examples of all seeds; a pair is one example under one seed."""
    mine, theirs = [], []
    for ours, base in pairs:
        if ours["identity"]["scored_on"] != base["identity"]["scored_on"]:
            continue
        columns = (ours["examples"][split][name], base["examples"][split][name])
        both = [(a, b) for a, b in zip(*columns, strict=True) if a is not None and b is not None]
        mine += [a for a, _ in both]
        theirs += [b for _, b in both]
    if not mine:
        return None
    interval = bootstrap_interval(mine, theirs)
    test = {"metric": name, "over": "examples", "n": len(mine), "difference": fmean(mine) - fmean(theirs)}
    return test | {"low": interval.low, "high": interval.high, "p": permutation_p(mine, theirs)}


def _over_seeds(pairs: Sequence[tuple[Written, Written]], split: str, name: str) -> dict[str, Any] | None:
    found = [(run_metric(ours, split, name), run_metric(base, split, name)) for ours, base in pairs]
    known = [(a, b) for a, b in found if a is not None and b is not None]
    if len(known) < 2:
        return None
    mine, theirs = [a for a, _ in known], [b for _, b in known]
    test = {"metric": name, "over": "seeds", "n": len(known), "difference": fmean(mine) - fmean(theirs)}
    return test | {"p": permutation_p(mine, theirs), "p_t": paired_t_p(mine, theirs)}
