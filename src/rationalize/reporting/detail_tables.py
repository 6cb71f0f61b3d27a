"""Tables beside the metrics: scores by class, and the health of the rationales."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rationalize.evaluation.evaluation import Evaluation
from rationalize.metrics.classification import class_scores
from rationalize.metrics.health import SelectorHealth
from rationalize.reporting.table import Column, Table, TableRow
from rationalize.reporting.wording import Value

CONFIDENCE_NOTE = (
    "Calibration error: how far confidence is from accuracy on average, before and after the temperature found on dev. "
    "To review: texts whose full text alone gives another label than the rationale alone."
)


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


def make_confidence_table(results: Mapping[str, Evaluation]) -> Table | None:
    """Make a table of calibration errors, and of accuracy where full text and rationale agree; None if unknown."""
    known = {name: each.confidence for name, each in results.items() if each.confidence}
    two = any(each.n_agree is not None for each in known.values())
    columns = (
        Column("", "text"),
        Column("before", group="Calibration error"),
        Column("after", group="Calibration error"),
        *(
            (
                Column("same label", "count", group="Full text and rationale"),
                Column("accuracy", group="Full text and rationale"),
                Column("review", "count", group="Full text and rationale"),
                Column("accuracy there", group="Full text and rationale"),
            )
            if two
            else ()
        ),
    )
    rows = tuple(
        TableRow(
            (
                name,
                each.ece,
                each.ece_calibrated,
                *(
                    (each.n_agree, each.accuracy_agree, each.n_disagree, each.accuracy_disagree)
                    if two
                    else ()
                ),
            )
        )
        for name, each in known.items()
    )
    return Table("Confidence", columns, rows, (CONFIDENCE_NOTE,)) if rows else None


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
