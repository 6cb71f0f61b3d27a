"""Sections of the table, each a row of named numbers; `score_table` explains the names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from rationalize.errors import DataError
from rationalize.metrics.classification import task_accuracy, task_f1_weighted, unseen_labels
from rationalize.metrics.counting import Scores, ratio
from rationalize.metrics.instance import ScoredInstance
from rationalize.metrics.shortcut_words import shortcut_scores
from rationalize.metrics.soft import soft_scores
from rationalize.metrics.spans import iou_scores_1to1, iou_scores_eraser, span_scores_exact
from rationalize.metrics.tokens import token_scores_eraser, token_scores_micro_piece

MetricRow = dict[str, float | int | None]
Instances = Sequence[ScoredInstance]

IOU_THRESHOLD = 0.5
LABEL_FIELDS = ("gold_label", "label", "label_full_text", "label_rationale", "label_query", "label_bag")


@dataclass(frozen=True, slots=True)
class LabelPair:
    """The true and the predicted label of an example."""

    id: str
    gold: str
    label: str


def list_label_pairs(instances: Instances, field: str) -> list[LabelPair]:
    """List the examples with a true label and one predicted in `field` (of `LABEL_FIELDS`), each once."""
    return [
        LabelPair(each.id, each.gold_label, getattr(each, field))
        for each in _one_per_example(instances).values()
        if each.gold_label is not None and getattr(each, field) is not None
    ]


def task_row(instances: Instances) -> MetricRow:
    """Score the predicted labels; each example counts once."""
    row: MetricRow = {}
    for field in LABEL_FIELDS[1:]:
        suffix = field.removeprefix("label")
        pairs = list_label_pairs(instances, field)
        gold, labels = [each.gold for each in pairs], [each.label for each in pairs]
        row[f"task_f1_weighted{suffix}"] = task_f1_weighted(gold, labels)
        row[f"task_accuracy{suffix}"] = task_accuracy(gold, labels)
        if field == "label":
            unseen = set(unseen_labels(gold, labels))
            row["n_unseen_label"] = sum(label in unseen for label in labels)
    return row


def gold_row(instances: Instances) -> MetricRow:
    """Score the selection against gold, over annotated documents."""
    annotated = [each for each in instances if each.gold is not None]
    return {**_token_row(annotated), **_span_row(annotated), **_ranking_row(annotated)}


def share_row(instances: Instances) -> MetricRow:
    """Compute how much is selected, in total and by gold label, and how much is gold."""
    row: MetricRow = {
        "selected_fraction": selected_fraction(instances),
        "selected_fraction_read": selected_fraction_read(instances),
    }
    for label in sorted({each.gold_label for each in instances if each.gold_label is not None}):
        row[f"selected_fraction/{label}"] = selected_fraction([i for i in instances if i.gold_label == label])
    return {**row, "gold_fraction": gold_fraction(instances), **asdict(shortcut_scores(instances))}


def count_row(instances: Instances) -> MetricRow:
    """Count the documents behind the numbers, and what truncation cost."""
    annotated = [each for each in instances if each.gold is not None]
    gold = sum(sum(each.gold_mask) for each in annotated)
    lost = sum(each.gold_words_lost for each in annotated)
    return {
        "n_instances": len(instances),
        "n_examples": len({each.id for each in instances}),
        "n_annotated": len(annotated),
        "n_empty_gold": sum(not any(each.gold_mask) for each in annotated),
        "n_empty_prediction": sum(not any(each.selected) for each in instances),
        "n_truncated": sum(each.words_read < each.n_words for each in instances),
        "n_gold_words_lost": lost,
        "gold_lost_to_truncation": ratio(lost, gold),
    }


def selected_fraction(instances: Instances) -> float | None:
    """Return selected words / words of the full documents, pooled."""
    return ratio(sum(sum(each.selected) for each in instances), sum(each.n_words for each in instances))


def gold_fraction(instances: Instances) -> float | None:
    """Return gold words / words of the full documents, pooled over annotated documents."""
    annotated = [each for each in instances if each.gold is not None]
    return ratio(sum(sum(each.gold_mask) for each in annotated), sum(each.n_words for each in annotated))


def _token_row(annotated: Instances) -> MetricRow:
    seen = [(each.piece_gold, each.piece_selected) for each in annotated]
    both = [(gold, selected) for gold, selected in seen if gold is not None and selected is not None]
    pieces = token_scores_micro_piece([gold for gold, _ in both], [selected for _, selected in both])
    words = token_scores_eraser((each.gold_mask, each.selected) for each in annotated)
    row: MetricRow = {}
    for part in ("f1", "p", "r"):
        row[f"token_{part}_micro_piece"] = getattr(pieces, part) if pieces else None
        row[f"token_{part}_eraser"] = getattr(words.macro, part) if words else None
        row[f"token_{part}_eraser_micro"] = getattr(words.micro, part) if words else None
    return row


def _span_row(annotated: Instances) -> MetricRow:
    pairs = [(each.gold or (), each.spans) for each in annotated]
    at = f"@{IOU_THRESHOLD:g}"
    return {
        "span_f1_exact": _macro_f1(span_scores_exact(pairs)),
        f"iou_f1_eraser{at}": _macro_f1(iou_scores_eraser(pairs, IOU_THRESHOLD)),
        f"iou_f1_1to1{at}": _macro_f1(iou_scores_1to1(pairs, IOU_THRESHOLD)),
    }


def _ranking_row(annotated: Instances) -> MetricRow:
    soft = soft_scores((each.scores, each.gold_mask) for each in annotated if each.scores is not None)
    return {
        "auprc": soft.auprc,
        "average_precision": soft.average_precision,
        "roc_auc": soft.roc_auc,
        "n_gold_free_skipped": soft.n_gold_free,
    }


def _macro_f1(scores: Scores | None) -> float | None:
    return scores.macro.f1 if scores else None


def selected_fraction_read(instances: Instances) -> float | None:
    """Return selected words / words that the model read, pooled."""
    masks = [each.selected[: each.words_read] for each in instances]
    return ratio(sum(map(sum, masks)), sum(map(len, masks)))


def _one_per_example(instances: Instances) -> dict[str, ScoredInstance]:
    examples: dict[str, ScoredInstance] = {}
    for each in instances:
        first = examples.setdefault(each.id, each)
        for field in LABEL_FIELDS:
            if getattr(first, field) != getattr(each, field):
                raise DataError(
                    f"{each.name}: {field} is {getattr(each, field)!r}, but {getattr(first, field)!r} in "
                    "another document of the same example. Give all its documents the same one."
                )
    return examples
