"""Summarize cells: table rows, means over seeds, and tests against the baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, stdev
from typing import Literal

from rationalize.comparison._cell_result import CellFacts, CellResult
from rationalize.files import JsonObject
from rationalize.metrics.named_metrics import TrivialRow
from rationalize.metrics.significance import bootstrap_interval, paired_t_p, permutation_p
from rationalize.reporting.wording import MeanValue

CellRows = Mapping[str, Sequence[CellResult]]
"""The cells of each table row: equal except for the seed."""
Pairs = Sequence[tuple[CellResult, CellResult]]
"""A cell and the baseline's cell of the same seed."""

OVER_EXAMPLES = ("correct", "token_f1", "shortcut_share")
OVER_SEEDS = ("task_f1_weighted", "token_f1_eraser", "shortcut_share", "ood_task_f1_weighted", "ood_drop")


@dataclass(frozen=True)
class RowSummary:
    """One row of a table on one split: means over its runs.

    Attributes:
        split: The scored split.
        method: Id of the method.
        n_examples: Number of examples scored in each run.
        metrics: Means by name; None if no run has the number.
        trivial: Means of the trivial selectors.
        warnings: Number of runs with a health warning.
        runs: Number of runs.
        seconds: Time for training and scoring.
    """

    split: str
    method: str | None
    n_examples: int
    metrics: Mapping[str, MeanValue | None]
    trivial: Mapping[str, TrivialRow]
    warnings: int
    runs: int
    seconds: MeanValue | None

    def to_dict(self) -> JsonObject:
        """Return plain values, ready for JSON."""
        return asdict(self) | {"trivial": {name: each.to_dict() for name, each in self.trivial.items()}}


@dataclass(frozen=True)
class PairedTest:
    """A row against the baseline on one number.

    Attributes:
        metric: The number.
        over: What makes a pair: one example under one seed, or one seed.
        n: Number of pairs.
        difference: Our mean minus the baseline's.
        p: By sign-flip permutation.
        low: Lower end of the bootstrap interval (over examples).
        high: Upper end of the bootstrap interval (over examples).
        p_t: By t test (over seeds); None if undefined.
    """

    metric: str
    over: Literal["examples", "seeds"]
    n: int
    difference: float
    p: float
    low: float | None = None
    high: float | None = None
    p_t: float | None = None

    def to_dict(self) -> dict[str, str | float | None]:
        """Return plain values, ready for JSON, without those of the other kind of pairs."""
        own = ("low", "high", "p") if self.over == "examples" else ("p", "p_t")
        return {name: getattr(self, name) for name in ("metric", "over", "n", "difference", *own)}


def group_rows(cells: Sequence[CellResult]) -> dict[str, dict[str, list[CellResult]]]:
    """Group cells by data set and row; row names include gold and augmented shares if these vary."""
    facts = [each.cell for each in cells]
    gold_varies = len({each.gold_share for each in facts if each.supervision == "part"}) > 1
    copies_vary = len({each.augment_share for each in facts if each.augment != "none"}) > 1
    found: dict[str, dict[str, list[CellResult]]] = {}
    for each in cells:
        name = _name_row(each.cell, gold_share=gold_varies, augment_share=copies_vary)
        found.setdefault(each.cell.data, {}).setdefault(name, []).append(each)
    return found


def _name_row(about: CellFacts, *, gold_share: bool, augment_share: bool) -> str:
    name = about.name
    if about.augment != "none":
        share = f" {100 * about.augment_share:g} %" if augment_share else ""
        name += f" + {about.augment} DA{share}"
    named = gold_share and about.supervision == "part"
    return name + (f", {100 * about.gold_share:g} % gold" if named else "")


def find_shared_splits(rows: CellRows) -> list[str]:
    """List the splits that every cell was scored on, in the order of scoring."""
    splits = [list(cell.results) for cells in rows.values() for cell in cells]
    return [name for name in splits[0] if all(name in each for each in splits)]


def summarize_values(values: Sequence[float | None]) -> MeanValue | None:
    """Compute mean, standard deviation and number of the known values."""
    numbers = [float(value) for value in values if value is not None]
    if not numbers:
        return None
    return MeanValue(fmean(numbers), stdev(numbers) if len(numbers) > 1 else None, len(numbers))


def summarize_row(cells: Sequence[CellResult], split: str) -> RowSummary:
    """Average one row's results on one split."""
    results = [cell.results[split] for cell in cells]
    names = list(dict.fromkeys(name for each in results for name in each.metrics))
    metrics = {name: summarize_values([each.metrics.get(name) for each in results]) for name in names}
    if split != "ood" and all("ood" in cell.results for cell in cells):
        for name in ("ood_task_f1_weighted", "ood_drop"):
            metrics[name] = summarize_values([get_metric(cell, split, name) for cell in cells])
    return RowSummary(
        split=split,
        method=results[0].method,
        n_examples=results[0].n_examples,
        metrics=metrics,
        trivial={
            name: _average_trivial([each.trivial[name] for each in results]) for name in results[0].trivial
        },
        warnings=sum(bool(each.health.warnings) for each in results),
        runs=len(results),
        seconds=summarize_values([cell.seconds.total for cell in cells]),
    )


def _average_trivial(rows: Sequence[TrivialRow]) -> TrivialRow:
    """Average the numbers that all rows have; take the others from the first row."""
    first = rows[0]
    metrics = dict(first.metrics)
    for name in metrics:
        values = [value for row in rows if (value := row.metrics.get(name)) is not None]
        if len(values) == len(rows):
            metrics[name] = fmean(values)
    return TrivialRow(metrics, fmean(row.share for row in rows), first.share_from)


def get_metric(cell: CellResult, split: str, name: str) -> float | None:
    """Return one number of one run; `ood_drop` is task F1 on the split minus task F1 on ood."""
    inside, outside = cell.results[split], cell.results.get("ood")
    if not name.startswith("ood_"):
        return inside.metrics.get(name)
    if outside is None or inside.task_f1_weighted is None or outside.task_f1_weighted is None:
        return None
    drop = inside.task_f1_weighted - outside.task_f1_weighted
    return drop if name == "ood_drop" else outside.task_f1_weighted


def compare_with_baseline(
    ours: Sequence[CellResult], base: Sequence[CellResult], split: str
) -> list[PairedTest]:
    """Test a row against the baseline, paired, on the seeds that both have."""
    by_seed = {each.cell.seed: each for each in base}
    pairs = [(each, by_seed[each.cell.seed]) for each in ours if each.cell.seed in by_seed]
    tests = [_test_over_examples(pairs, split, name) for name in OVER_EXAMPLES]
    tests += [_test_over_seeds(pairs, split, name) for name in OVER_SEEDS] if split != "ood" else []
    return [test for test in tests if test is not None]


def _test_over_examples(pairs: Pairs, split: str, name: str) -> PairedTest | None:
    """Test over the examples of all seeds; a pair is one example under one seed."""
    mine: list[float] = []
    theirs: list[float] = []
    for ours, base in pairs:
        if ours.identity.scored_on != base.identity.scored_on:
            continue
        columns = (getattr(ours.examples[split], name), getattr(base.examples[split], name))
        both = [(a, b) for a, b in zip(*columns, strict=True) if a is not None and b is not None]
        mine += [a for a, _ in both]
        theirs += [b for _, b in both]
    if not mine:
        return None
    interval, p = bootstrap_interval(mine, theirs), permutation_p(mine, theirs)
    difference = fmean(mine) - fmean(theirs)
    return PairedTest(name, "examples", len(mine), difference, p, low=interval.low, high=interval.high)


def _test_over_seeds(pairs: Pairs, split: str, name: str) -> PairedTest | None:
    found = [(get_metric(ours, split, name), get_metric(base, split, name)) for ours, base in pairs]
    known = [(a, b) for a, b in found if a is not None and b is not None]
    if len(known) < 2:
        return None
    mine, theirs = [a for a, _ in known], [b for _, b in known]
    p, p_t = permutation_p(mine, theirs), paired_t_p(mine, theirs)
    return PairedTest(name, "seeds", len(known), fmean(mine) - fmean(theirs), p, p_t=p_t)
