"""Tables beside the metrics: scores by class, and the health of the rationales."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rationalize.evaluation.evaluation import Evaluation
from rationalize.metrics.classification import class_scores
from rationalize.metrics.health import SelectorHealth
from rationalize.reporting.table import Column, Table, TableRow
from rationalize.reporting.wording import Value


def make_class_table(results: Mapping[str, Evaluation]) -> Table | None:
    """Make a table of precision, recall and F1 of every class; None without labeled examples."""
    columns = (
        Column("", "text"),
        Column("precision"),
        Column("recall"),
        Column("F1"),
        Column("examples", "count"),
    )
    rows = tuple(
        TableRow((f"{name}: {label}" if len(results) > 1 else label, each.p, each.r, each.f1, each.support))
        for name, result in results.items()
        for label, each in class_scores(result.confusion).items()
    )
    return Table("Labels by class", columns, rows) if rows else None


def make_health_table(results: Mapping[str, Evaluation]) -> Table | None:
    """Make a table of selected shares by class and of what the mask shapes reveal; None without results."""
    labels = sorted({label for each in results.values() for label in each.health.by_predicted})
    columns = (
        Column("", "text"),
        Column("all", group="Selected share"),
        *(Column(f"predicted {label}", group="Selected share") for label in labels),
        Column("nothing selected", group="Documents"),
        Column("mask probe", group="Accuracy"),
        Column("majority", group="Accuracy"),
    )
    rows = tuple(
        TableRow((name, *_list_health_values(each.health, labels))) for name, each in results.items()
    )
    note = (
        "Percentages of the words read. The mask probe predicts the model's label from the positions of the "
        "selected words alone; an accuracy well above the majority class means that the selection itself carries "
        "the label."
    )
    return Table("", columns, rows, (note,)) if rows else None


def _list_health_values(health: SelectorHealth, labels: Iterable[str]) -> list[Value]:
    by_label = [health.by_predicted.get(label) for label in labels]
    shares = [share.selected if share else None for share in by_label]
    probe = health.probe_predicted
    return [health.selected_share, *shares, health.empty_share, probe.accuracy, probe.majority]
