"""The tables that results make: metrics beside the trivial selectors, and the health of the rationales."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from rationalize.evaluation.evaluation import Evaluation
from rationalize.metrics.health import SelectorHealth
from rationalize.metrics.named_metrics import TrivialRow
from rationalize.reporting.table import Column, Table, TableRow
from rationalize.reporting.wording import Value, format_value, magnitude

Values = Mapping[str, Value]


class Measured(Protocol):
    """What makes a row of the table: one evaluation, or the means of several."""

    @property
    def metrics(self) -> Values:
        """Numbers by name."""

    @property
    def trivial(self) -> Mapping[str, TrivialRow]:
        """Those of trivial selectors, by the selector's name."""


SELECTORS = ("all", "random", "first", "last")
METRICS = {
    "task_f1_weighted": Column("label", group="Task F1", best="max"),
    "task_f1_weighted_full_text": Column("full text", group="Task F1"),
    "task_f1_weighted_rationale": Column("rationale", group="Task F1"),
    "task_f1_weighted_query": Column("query alone", group="Task F1"),
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
"""Shown together, where anybody has annotated anything."""
FAITHFULNESS = ("comprehensiveness", "comprehensiveness_aopc", "sufficiency", "sufficiency_aopc")
OPTIONAL = (*FAITHFULNESS, "task_f1_weighted_query", "shortcut_share", "ood_task_f1_weighted")
"""Each shown where there is such a number."""
TO_BEAT = ("token_f1_eraser", "token_f1_micro_piece")
NOTE = (
    "All numbers are percentages. Task F1 is weighted by class: of the label given, and of the predictor "
    "reading the full text or the rationale alone. Shares: selected and gold words of all words, shortcut "
    "words of the selected ones."
)
HARDLY = 0.05
"""A task F1 that is above another by less is hardly above it."""
QUERY_NOTE = "Query alone: the same model on an empty text. What it knows from there, no rationale explains."
READ_NOTE = (
    "Texts were cut off: “of the read” is the share of selected words among those before the cut; of micro-piece "
    "scores, which leave out the rest, trivial selectors have as large a share."
)
GOLD_NOTE = "AUPRC is ERASER's, by trapezoids, which flatter a selector that ranks nothing."
FAITHFULNESS_NOTE = (
    "Comprehensiveness (higher is better) and sufficiency (lower is better): how much less probable the given "
    "label becomes without the rationale, and with nothing else; AOPC: the mean over the top 1, 5, 10, 20 and "
    "50 % of the words. The random selector picks as many words of each text."
)

ORACLE_WARNING = (
    "The selector was given the gold label: its rationales are no explanations, nor their scores fair."
)


def metric_table(results: Mapping[str, Measured], *, title: str = "Metrics", explained: bool = True) -> Table:
    """One row per model, then the trivial selectors, set apart.

    Trivial selectors select as much as a model does; with many models, they are shown at the least and the
    greatest share only, while every model is judged against those at its own.

    Args:
        results: By the name to show.
        title: Above the table.
        explained: Say in a note what the columns mean.
    """
    models = {name: _values(result.metrics) for name, result in results.items()}
    trivial = {name: _trivial(result) for name, result in results.items()}
    apart = _trivial_shown(trivial.values())
    everything = [*models.values(), *apart.values()]
    shown = _columns_shown(everything)
    rows = [TableRow((name, *map(values.get, shown))) for name, values in models.items()]
    rows += [TableRow((str(key), *map(values.get, shown)), apart=True) for key, values in apart.items()]
    notes = [*([_note(shown)] if explained else []), *_query_notes(models), *_beaten_notes(models, trivial)]
    columns = (Column("", "text"), *(METRICS[name] for name in shown))
    return Table(title, columns, tuple(rows), tuple(notes))


def _values(metrics: Values) -> Values:
    return {name: metrics[name] for name in METRICS if name in metrics}


def _columns_shown(rows: Sequence[Values]) -> list[str]:
    """The columns that have something to say."""
    has_gold = any(_any_has(rows, name) for name in GOLD)
    absent = {name for name in OPTIONAL if not _any_has(rows, name)} | (set() if has_gold else set(GOLD))
    if all(map(_read_it_all, rows)):
        absent.add("selected_fraction_read")
    return [name for name in METRICS if name not in absent]


def _note(shown: Iterable[str]) -> str:
    parts = {
        NOTE: METRICS,
        QUERY_NOTE: ("task_f1_weighted_query",),
        READ_NOTE: ("selected_fraction_read",),
        GOLD_NOTE: GOLD,
        FAITHFULNESS_NOTE: FAITHFULNESS,
    }
    return " ".join(text for text, names in parts.items() if not set(names).isdisjoint(shown))


def _read_it_all(values: Values) -> bool:
    """Whether the selected words are the same share of all words and of those that were read."""
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


def _trivial(result: Measured) -> dict[Trivial, Values]:
    rows = {name: result.trivial[name] for name in SELECTORS if name in result.trivial}
    return {
        # What one of them has of the words that were read depends on where it looks, and tells nothing.
        Trivial(name, round(row.share, 3)): _values({**row.metrics, "selected_fraction_read": None})
        for name, row in rows.items()
    }


def _trivial_shown(many: Iterable[Mapping[Trivial, Values]]) -> dict[Trivial, Values]:
    found: dict[Trivial, Values] = {}
    for rows in many:
        found = {**rows, **found}
    shares = {key.share for key in found if key.selector != "all"}
    ends = {min(shares), max(shares)} if shares else set()
    # Without gold, all that many of them have is a share.
    telling = [key for key, values in found.items() if any(_any_has([values], name) for name in SCORES)]
    kept = [key for key in telling if key.selector == "all" or key.share in ends]
    return {
        key: found[key] for key in sorted(kept, key=lambda key: (SELECTORS.index(key.selector), key.share))
    }


def _beaten_notes(models: Mapping[str, Values], trivial: Mapping[str, Mapping[Trivial, Values]]) -> list[str]:
    """For every score of the rationale, which models are no closer to people than a trivial selector is."""
    notes = []
    for metric in TO_BEAT:
        beaten: dict[str, list[str]] = {}
        for name, own in models.items():
            score, best = magnitude(own.get(metric)), _best(metric, trivial[name])
            if score is not None and best is not None and score <= best[1]:
                selector = f"{best[0]}: {format_value(best[1])}"
                beaten.setdefault(selector, []).append(f"{name} {format_value(score)}")
        if beaten:
            parts = [f"{', '.join(names)} ({selector})" for selector, names in beaten.items()]
            heading = METRICS[metric].full_title
            notes.append(f"{heading}, not above the best trivial selector: {'; '.join(parts)}.")
    return notes


def _query_notes(models: Mapping[str, Values]) -> list[str]:
    """Which models give labels that are hardly better than without the text."""
    idle = []
    for name, own in models.items():
        score, alone = (magnitude(own.get(f"task_f1_weighted{suffix}")) for suffix in ("", "_query"))
        if score is not None and alone is not None and score < alone + HARDLY:
            idle.append(f"{name} {format_value(score)} ({format_value(alone)})")
    return [f"Task F1 hardly above the query alone: {', '.join(idle)}."] if idle else []


def _best(metric: str, trivial: Mapping[Trivial, Values]) -> tuple[str, float] | None:
    """The trivial selector that is closest to people, and its score."""
    found = ((str(key), magnitude(values.get(metric))) for key, values in trivial.items())
    scores = {key: number for key, number in found if number is not None}
    return max(scores.items(), key=lambda pair: pair[1]) if scores else None


def health_table(results: Mapping[str, Evaluation]) -> Table | None:
    """How much each model selects, by class, and what the shape of its mask gives away; None of nothing."""
    labels = sorted({label for each in results.values() for label in each.health.by_predicted})
    columns = (
        Column("", "text"),
        Column("all", group="Selected share"),
        *(Column(f"says {label}", group="Selected share") for label in labels),
        Column("nothing selected", group="Documents"),
        Column("mask probe", group="Accuracy"),
        Column("majority", group="Accuracy"),
    )
    rows = tuple(TableRow((name, *_health_values(each.health, labels))) for name, each in results.items())
    note = (
        "Percentages, of the words that were read. The mask probe guesses the model's label from where the "
        "selected words lie, not from what they say; well above the majority class, the selection itself "
        "carries the label."
    )
    return Table("", columns, rows, (note,)) if rows else None


def _health_values(health: SelectorHealth, labels: Iterable[str]) -> list[Value]:
    by_label = [health.by_predicted.get(label) for label in labels]
    shares = [share.selected if share else None for share in by_label]
    probe = health.probe_predicted
    return [health.selected_share, *shares, health.empty_share, probe.accuracy, probe.majority]


def warnings_of(results: Mapping[str, Evaluation]) -> list[tuple[str, str]]:
    """Every health warning, as (name, warning), after that of results that are not comparable with others."""
    unfair = [(name, ORACLE_WARNING) for name, each in results.items() if each.oracle_label]
    return unfair + [(name, warning) for name, each in results.items() for warning in each.health.warnings]
