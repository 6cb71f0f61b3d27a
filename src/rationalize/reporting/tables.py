"""The tables that results make: metrics beside the trivial selectors, and the health of the rationales."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rationalize.reporting.numbers import Cell, Value, as_value, format_value, magnitude
from rationalize.reporting.table import Column, Row, Table

__all__ = ["Cell", "Column", "Results", "Row", "Table", "health_table", "metric_table", "warnings_of"]

Results = Mapping[str, Any]
"""What one evaluation of one model on one split wrote."""

TRIVIAL_SELECTORS = ("all", "random", "first", "last")
METRICS = {
    "task_f1_weighted": Column("label", group="Task F1", best="max"),
    "task_f1_weighted_full_text": Column("full text", group="Task F1"),
    "task_f1_weighted_rationale": Column("rationale", group="Task F1"),
    "token_f1_eraser": Column("ERASER", group="Token F1", best="max"),
    "token_f1_micro_piece": Column("micro-piece", group="Token F1", best="max"),
    "iou_f1_eraser@0.5": Column("ERASER", group="IOU F1 @0.5", best="max"),
    "iou_f1_1to1@0.5": Column("1-to-1", group="IOU F1 @0.5", best="max"),
    "auprc": Column("AUPRC", best="max"),
    "selected_fraction": Column("selected", group="Share"),
    "gold_fraction": Column("gold", group="Share"),
    "shortcut_share": Column("shortcut", group="Share", best="min"),
    "ood_task_f1_weighted": Column("task F1", group="Out of domain", best="max"),
}
OPTIONAL = ("shortcut_share", "ood_task_f1_weighted")
TO_BEAT = ("token_f1_eraser", "token_f1_micro_piece")
NOTE = (
    "All numbers are percentages. Task F1 is weighted by class: of the label given, and of the predictor "
    "reading the full text or the rationale alone. Shares: selected and gold words of all words, shortcut "
    "words of the selected ones."
)


def metric_table(results: Mapping[str, Results], *, title: str = "Metrics", explained: bool = True) -> Table:
    """One row per model, then the trivial selectors, set apart.

    Args:
        results: By the name to show.
        title: Above the table.
        explained: Say in a note what the columns mean.
    """
    models = {name: _values(result["metrics"]) for name, result in results.items()}
    trivial = _trivial(results.values())
    everything = [*models.values(), *trivial.values()]
    shown = [name for name in METRICS if name not in OPTIONAL or _any_has(everything, name)]
    rows = [Row((name, *map(values.get, shown))) for name, values in models.items()]
    rows += [Row((name, *map(values.get, shown)), apart=True) for name, values in trivial.items()]
    notes = [*([NOTE] if explained else []), *_beaten_notes(models, trivial)]
    columns = (Column("", "text"), *(METRICS[name] for name in shown))
    return Table(title, columns, tuple(rows), tuple(notes))


def _values(metrics: Mapping[str, object]) -> dict[str, Value]:
    return {name: as_value(metrics[name]) for name in METRICS if name in metrics}


def _any_has(rows: Iterable[Mapping[str, Value]], name: str) -> bool:
    return any(magnitude(values.get(name)) is not None for values in rows)


def _trivial(results: Iterable[Results]) -> dict[str, dict[str, Value]]:
    """Rows of the trivial selectors by name; models that select the same share have them in common."""
    rows: dict[str, dict[str, Value]] = {}
    for selector in TRIVIAL_SELECTORS:
        for trivial in (result.get("trivial") or {} for result in results):
            if selector in trivial:
                row = trivial[selector]
                name = "all words" if selector == "all" else f"{selector} {100 * row['share']:.3g}\u00a0%"
                rows.setdefault(name, _values(row))
    return rows


def _beaten_notes(
    models: Mapping[str, Mapping[str, Value]], trivial: Mapping[str, Mapping[str, Value]]
) -> list[str]:
    """For every score of the rationale, which models are no closer to people than a trivial selector is."""
    notes = []
    for metric in TO_BEAT:
        rivals = _numbers(trivial, metric)
        best = max(rivals, key=rivals.__getitem__, default=None)
        beaten = {name: own for name, own in _numbers(models, metric).items() if best and own <= rivals[best]}
        if best and beaten:
            names = ", ".join(f"{name} ({format_value(own)})" for name, own in beaten.items())
            verb = "does" if len(beaten) == 1 else "do"
            against = f"the trivial selector “{best}” ({format_value(rivals[best])})"
            notes.append(f"{METRICS[metric].full_title}: {names} {verb} not beat {against}.")
    return notes


def _numbers(rows: Mapping[str, Mapping[str, Value]], metric: str) -> dict[str, float]:
    found = {name: magnitude(values.get(metric)) for name, values in rows.items()}
    return {name: number for name, number in found.items() if number is not None}


def health_table(results: Mapping[str, Results]) -> Table | None:
    """How much each model selects, by class, and what the shape of its mask gives away; None if unknown."""
    health = {name: result["health"] for name, result in results.items() if result.get("health")}
    labels = list(dict.fromkeys(label for each in health.values() for label in each["by_predicted"]))
    columns = (
        Column("", "text"),
        Column("all", group="Selected share"),
        *(Column(f"says {label}", group="Selected share") for label in labels),
        Column("nothing selected", group="Documents"),
        Column("mask probe", group="Accuracy"),
        Column("majority", group="Accuracy"),
    )
    rows = tuple(Row((name, *_health_values(each, labels))) for name, each in health.items())
    note = (
        "Percentages, of the words that were read. The mask probe guesses the model's label from where the "
        "selected words lie, not from what they say; well above the majority class, the selection itself "
        "carries the label."
    )
    return Table("", columns, rows, (note,)) if rows else None


def _health_values(health: Mapping[str, Any], labels: Iterable[str]) -> list[Value]:
    shares = [health["by_predicted"].get(label, {}).get("selected") for label in labels]
    probe = health["probe_predicted"]
    numbers = [health["selected_share"], *shares, health["empty_share"], probe["accuracy"], probe["majority"]]
    return [as_value(number) for number in numbers]


def warnings_of(results: Mapping[str, Results]) -> list[tuple[str, str]]:
    """Every health warning, as (name, warning)."""
    return [
        (name, warning)
        for name, result in results.items()
        for warning in (result.get("health") or {}).get("warnings", ())
    ]
