"""Tables of results: metrics with the trivial selectors, and the health of the rationales."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from rationalize.evaluation.evaluation import Evaluation
from rationalize.metrics.named_metrics import TrivialRow
from rationalize.reporting.table import Column, Table, TableRow
from rationalize.reporting.wording import SampledValue, Value, format_value, magnitude

Values = Mapping[str, Value]


class Measured(Protocol):
    """The source of a table row: one evaluation, or the means of several."""

    @property
    def metrics(self) -> Values:
        """Numbers by name."""

    @property
    def trivial(self) -> Mapping[str, TrivialRow]:
        """Numbers of trivial selectors, by selector."""


SELECTORS = ("all", "random", "first", "last")
METRICS = {
    "task_f1_weighted": Column("label", group="Task F1", best="max"),
    "task_f1_weighted_full_text": Column("full text", group="Task F1"),
    "task_f1_weighted_rationale": Column("rationale", group="Task F1"),
    "task_f1_weighted_query": Column("query alone", group="Task F1"),
    "task_f1_weighted_bag": Column("bag of words", group="Task F1"),
    "token_f1_eraser": Column("ERASER", group="Token F1", best="max"),
    "token_f1_micro_piece": Column("micro-piece", group="Token F1", best="max"),
    "iou_f1_eraser@0.5": Column("ERASER", group="IOU F1 @0.5", best="max"),
    "iou_f1_1to1@0.5": Column("1-to-1", group="IOU F1 @0.5", best="max"),
    "auprc": Column("AUPRC", best="max"),
    "selected_fraction": Column("selected", group="Share"),
    "selected_fraction_read": Column("of the read", group="Share"),
    "gold_fraction": Column("gold", group="Share"),
    "shortcut_share": Column("shortcut", group="Share", best="min"),
    "comprehensiveness": Column("rationale", group="Comprehensiveness", best="max"),
    "comprehensiveness_aopc": Column("AOPC", group="Comprehensiveness", best="max"),
    "sufficiency": Column("rationale", group="Sufficiency", best="min"),
    "sufficiency_aopc": Column("AOPC", group="Sufficiency", best="min"),
    "ood_task_f1_weighted": Column("task F1", group="Out of domain", best="max"),
}
SHARES = ("selected_fraction", "selected_fraction_read", "gold_fraction", "shortcut_share")
SCORES = tuple(name for name in METRICS if name not in SHARES)
GOLD = (
    "token_f1_eraser",
    "token_f1_micro_piece",
    "iou_f1_eraser@0.5",
    "iou_f1_1to1@0.5",
    "auprc",
    "gold_fraction",
)
"""Shown together, if any example is annotated."""
FAITHFULNESS = ("comprehensiveness", "comprehensiveness_aopc", "sufficiency", "sufficiency_aopc")
OPTIONAL = (
    *FAITHFULNESS,
    "task_f1_weighted_query",
    "task_f1_weighted_bag",
    "shortcut_share",
    "ood_task_f1_weighted",
)
"""Each shown only if known."""
TO_BEAT = ("token_f1_eraser", "token_f1_micro_piece")
NOTE = (
    "All numbers are percentages. Task F1 is weighted by class: for the predicted label, and for the predictor "
    "reading the full text or the rationale alone. Shares: selected and gold words of all words, shortcut "
    "words of the selected ones."
)
HARDLY = 0.05
"""A task F1 less than this above another is hardly above it."""
QUERY_NOTE = (
    "Query alone: the same model on an empty text. No rationale explains what it knows from the query."
)
BAG_NOTE = "Bag of words: a logistic regression on the words of the same training examples."
READ_NOTE = (
    "Texts were cut off: “of the read” is the share of selected words before the cut; trivial selectors use that share "
    "for micro-piece scores, which ignore the rest."
)
GOLD_NOTE = "AUPRC is ERASER's, by trapezoids, which flatters a selector that ranks nothing."
FAITHFULNESS_NOTE = (
    "Comprehensiveness (higher is better) and sufficiency (lower is better): how much less probable the predicted "
    "label becomes without the rationale, and with the rationale alone; AOPC: the mean over the top 1, 5, 10, 20 and "
    "50 % of the words. The random selector picks as many words of each text."
)

ORACLE_WARNING = (
    "The selector was given the gold label: its rationales do not explain, and their scores are not fair."
)


def metric_table(results: Mapping[str, Measured], *, title: str = "Metrics", explained: bool = True) -> Table:
    """Make a table with one row per model, then the trivial selectors, set apart.

    Trivial selectors select as much as a model does; with many models, only those at the smallest and the
    largest share are shown, while every model is compared with those at its own share.

    Args:
        results: Results by the name to show.
        title: Title of the table.
        explained: Explain the columns in a note.
    """
    models = {name: _pick_values(_add_margins(result)) for name, result in results.items()}
    trivial = {name: _collect_trivial(result) for name, result in results.items()}
    apart = _choose_trivial(trivial.values())
    everything = [*models.values(), *apart.values()]
    shown = _choose_columns(everything)
    rows = [TableRow((name, *map(values.get, shown))) for name, values in models.items()]
    rows += [TableRow((str(key), *map(values.get, shown)), apart=True) for key, values in apart.items()]
    notes = [
        *([_make_note(shown)] if explained else []),
        *_note_margins(results.values()),
        *_note_queries(models),
        *_note_beaten(models, trivial),
    ]
    columns = (Column("", "text"), *(METRICS[name] for name in shown))
    return Table(title, columns, tuple(rows), tuple(notes))


def _add_margins(result: Measured) -> Values:
    """Return the numbers, with margins where intervals are known; means over runs have their own ±."""
    if not isinstance(result, Evaluation):
        return result.metrics
    return {
        name: SampledValue(value, result.intervals[name].margin)
        if value is not None and name in result.intervals
        else value
        for name, value in result.metrics.items()
    }


def _note_margins(results: Iterable[Measured]) -> list[str]:
    sizes = sorted({each.n_examples for each in results if isinstance(each, Evaluation) and each.intervals})
    counts = " or ".join(map(str, sizes))
    return [f"± is half the width of a 95 % interval over {counts} examples."] if sizes else []


def _pick_values(metrics: Values) -> Values:
    return {name: metrics[name] for name in METRICS if name in metrics}


def _choose_columns(rows: Sequence[Values]) -> list[str]:
    """Choose the columns with content."""
    has_gold = any(_any_has(rows, name) for name in GOLD)
    absent = {name for name in OPTIONAL if not _any_has(rows, name)} | (set() if has_gold else set(GOLD))
    if all(map(_is_read_whole, rows)):
        absent.add("selected_fraction_read")
    return [name for name in METRICS if name not in absent]


def _make_note(shown: Iterable[str]) -> str:
    parts = {
        NOTE: METRICS,
        QUERY_NOTE: ("task_f1_weighted_query",),
        BAG_NOTE: ("task_f1_weighted_bag",),
        READ_NOTE: ("selected_fraction_read",),
        GOLD_NOTE: GOLD,
        FAITHFULNESS_NOTE: FAITHFULNESS,
    }
    return " ".join(text for text, names in parts.items() if not set(names).isdisjoint(shown))


def _is_read_whole(values: Values) -> bool:
    """Return whether the selected words are the same share of all words and of the words read."""
    of_all, of_read = (magnitude(values.get(f"selected_fraction{name}")) for name in ("", "_read"))
    return of_all is None or of_read is None or math.isclose(of_all, of_read)


def _any_has(rows: Iterable[Values], name: str) -> bool:
    return any(magnitude(values.get(name)) is not None for values in rows)


@dataclass(frozen=True, slots=True)
class Trivial:
    """A trivial selector at a share of the words."""

    selector: str
    share: float

    def __str__(self) -> str:
        return "all words" if self.selector == "all" else f"{self.selector} {100 * self.share:.3g}\u00a0%"


def _collect_trivial(result: Measured) -> dict[Trivial, Values]:
    rows = {name: result.trivial[name] for name in SELECTORS if name in result.trivial}
    return {
        # A trivial selector's share of the words read depends only on where it selects.
        Trivial(name, round(row.share, 3)): _pick_values({**row.metrics, "selected_fraction_read": None})
        for name, row in rows.items()
    }


def _choose_trivial(many: Iterable[Mapping[Trivial, Values]]) -> dict[Trivial, Values]:
    found: dict[Trivial, Values] = {}
    for rows in many:
        found = {**rows, **found}
    shares = {key.share for key in found if key.selector != "all"}
    ends = {min(shares), max(shares)} if shares else set()
    # Without gold, many have nothing but a share.
    telling = [key for key, values in found.items() if any(_any_has([values], name) for name in SCORES)]
    kept = [key for key in telling if key.selector == "all" or key.share in ends]
    return {
        key: found[key] for key in sorted(kept, key=lambda key: (SELECTORS.index(key.selector), key.share))
    }


def _note_beaten(models: Mapping[str, Values], trivial: Mapping[str, Mapping[Trivial, Values]]) -> list[str]:
    """List, for every rationale score, the models that do not beat the best trivial selector."""
    notes = []
    for metric in TO_BEAT:
        beaten: dict[str, list[str]] = {}
        for name, own in models.items():
            score, best = magnitude(own.get(metric)), _find_best(metric, trivial[name])
            if score is not None and best is not None and score <= best[1]:
                selector = f"{best[0]}: {format_value(best[1])}"
                beaten.setdefault(selector, []).append(f"{name} {format_value(score)}")
        if beaten:
            parts = [f"{', '.join(names)} ({selector})" for selector, names in beaten.items()]
            heading = METRICS[metric].full_title
            notes.append(f"{heading}, not above the best trivial selector: {'; '.join(parts)}.")
    return notes


def _note_queries(models: Mapping[str, Values]) -> list[str]:
    """List the models whose labels are hardly better than without the text."""
    idle = []
    for name, own in models.items():
        score, alone = (magnitude(own.get(f"task_f1_weighted{suffix}")) for suffix in ("", "_query"))
        if score is not None and alone is not None and score < alone + HARDLY:
            idle.append(f"{name} {format_value(score)} ({format_value(alone)})")
    return [f"Task F1 hardly above the query alone: {', '.join(idle)}."] if idle else []


def _find_best(metric: str, trivial: Mapping[Trivial, Values]) -> tuple[str, float] | None:
    """Find the trivial selector with the best score."""
    found = ((str(key), magnitude(values.get(metric))) for key, values in trivial.items())
    scores = {key: number for key, number in found if number is not None}
    return max(scores.items(), key=lambda pair: pair[1]) if scores else None


def warnings_of(results: Mapping[str, Evaluation]) -> list[tuple[str, str]]:
    """List every health warning as (name, warning), after warnings about results that are not comparable."""
    unfair = [(name, ORACLE_WARNING) for name, each in results.items() if each.oracle_label]
    return unfair + [(name, warning) for name, each in results.items() for warning in each.health.warnings]
