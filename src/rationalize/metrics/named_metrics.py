"""Rows of numbers that are typed attributes too; `score_table` explains the names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self, overload

Metrics = Mapping[str, float | int | None]
"""Numbers by name; None: undefined on this input."""


class Metric:
    """An attribute that reads one number of `metrics`: None if not measured or undefined."""

    def __init__(self, name: str = "") -> None:
        self.name = name

    def __set_name__(self, owner: type, attribute: str) -> None:
        self.name = self.name or attribute

    @overload
    def __get__(self, row: None, owner: type) -> Self: ...
    @overload
    def __get__(self, row: NamedMetrics, owner: type) -> float | None: ...
    def __get__(self, row: NamedMetrics | None, owner: type) -> Self | float | None:
        return self if row is None else row.metrics.get(self.name)


class NamedMetrics:
    """Something with `metrics`, whose numbers are attributes too.

    Numbers by class or bin (`selected_fraction/POS`, `comprehensiveness@0.05`) are in `metrics` alone.
    """

    metrics: Metrics

    task_f1_weighted = Metric()
    task_f1_weighted_full_text = Metric()
    task_f1_weighted_rationale = Metric()
    task_f1_weighted_query = Metric()
    task_f1_weighted_bag = Metric()
    task_accuracy = Metric()
    task_accuracy_full_text = Metric()
    task_accuracy_rationale = Metric()
    task_accuracy_query = Metric()
    task_accuracy_bag = Metric()
    token_f1_eraser = Metric()
    token_p_eraser = Metric()
    token_r_eraser = Metric()
    token_f1_eraser_micro = Metric()
    token_p_eraser_micro = Metric()
    token_r_eraser_micro = Metric()
    token_f1_micro_piece = Metric()
    token_p_micro_piece = Metric()
    token_r_micro_piece = Metric()
    span_f1_exact = Metric()
    iou_f1_eraser = Metric("iou_f1_eraser@0.5")
    iou_f1_1to1 = Metric("iou_f1_1to1@0.5")
    auprc = Metric()
    average_precision = Metric()
    roc_auc = Metric()
    selected_fraction = Metric()
    selected_fraction_read = Metric()
    gold_fraction = Metric()
    gold_lost_to_truncation = Metric()
    shortcut_share = Metric()
    shortcut_text_share = Metric()
    shortcut_recall = Metric()
    comprehensiveness = Metric()
    comprehensiveness_aopc = Metric()
    comprehensiveness_entropy = Metric()
    comprehensiveness_kl = Metric()
    sufficiency = Metric()
    sufficiency_aopc = Metric()
    sufficiency_entropy = Metric()
    sufficiency_kl = Metric()
    tokens_to_flip = Metric()
    n_instances = Metric()
    n_annotated = Metric()
    n_empty_gold = Metric()
    n_empty_prediction = Metric()
    n_gold_free_skipped = Metric()
    n_gold_words_lost = Metric()
    n_truncated = Metric()
    n_unseen_label = Metric()


@dataclass(frozen=True)
class TrivialRow(NamedMetrics):
    """The numbers of a trivial selector, which ignores the text.

    Attributes:
        metrics: Its numbers, faithfulness included if measured.
        share: The share of the words that it selected.
        share_from: Where the share comes from: given, model, gold, default, or all.
    """

    metrics: Metrics
    share: float
    share_from: str

    def add(self, more: Metrics) -> Self:
        """Return the row with more numbers."""
        return replace(self, metrics={**self.metrics, **more})

    def to_dict(self) -> dict[str, float | int | str | None]:
        """Return plain values, ready for JSON."""
        measured = {name: value for name, value in self.metrics.items() if name.startswith(_FAITHFULNESS)}
        own = {name: value for name, value in self.metrics.items() if name not in measured}
        return {**own, "share": self.share, "share_from": self.share_from, **measured}

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Self:
        """Rebuild a row from what `to_dict` returned."""
        metrics = {name: value for name, value in row.items() if name not in ("share", "share_from")}
        return cls(metrics, row["share"], row["share_from"])


_FAITHFULNESS = ("comprehensiveness", "sufficiency", "tokens_to_flip")
