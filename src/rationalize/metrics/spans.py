"""Span scores: exact match, and overlap of at least a threshold (intersection over union, IOU).

Spans are (start, end) word indexes, end-exclusive. Per instance they are sets: duplicates count once.
Adjacent spans are not merged: [0,2) and [2,4) do not equal [0,4). A zero-length span overlaps none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rationalize.metrics.counting import Counts, Scores, instance_scores, matching_scores

if TYPE_CHECKING:
    import numpy as np

WordSpan = tuple[int, int]
SpanPairs = Iterable[tuple[Iterable[WordSpan], Iterable[WordSpan]]]


def span_scores_exact(documents: SpanPairs) -> Scores | None:
    """Compute ERASER's `rationale_prf` of (gold, predicted) spans: a prediction counts if it equals a gold span.

    Averaged like token scores; `macro.f1` is `span_f1_exact`.
    """
    pairs = [(set(gold), set(predicted)) for gold, predicted in documents]
    return instance_scores(Counts(len(gold & found), len(gold), len(found)) for gold, found in pairs)


def iou_scores_eraser(documents: SpanPairs, threshold: float = 0.5) -> Scores | None:
    """Compute ERASER's `iou_scores`: count **predictions** whose best IOU with a gold span is ≥ the threshold.

    Several predictions may match one gold span, so recall and F1 **can exceed 1** ([0,2) and [2,4) against
    gold [0,4): recall 2). Use it to compare with published numbers; `macro.f1` is ERASER's headline IOU F1.
    """
    return matching_scores(_hits_of_any(*pair, threshold) for pair in _sort_spans(documents))


def iou_scores_1to1(documents: SpanPairs, threshold: float = 0.5) -> Scores | None:
    """Compute IOU scores that match every gold span with at most one prediction and never exceed 1.

    Hits are the size of a maximum matching between predictions and gold spans whose IOU is ≥ the threshold;
    averaging is as in `iou_scores_eraser`.
    """
    return matching_scores(_hits_of_matching(*pair, threshold) for pair in _sort_spans(documents))


def iou_matrix(predicted: Sequence[WordSpan], gold: Sequence[WordSpan]) -> np.ndarray[Any, Any]:
    """Compute the IOU of every prediction (rows) with every gold span (columns); 0 where both are empty."""
    import numpy as np

    rows, columns = np.array(predicted).reshape(-1, 2), np.array(gold).reshape(-1, 2)
    start = np.maximum(rows[:, None, 0], columns[None, :, 0])
    end = np.minimum(rows[:, None, 1], columns[None, :, 1])
    shared = np.maximum(end - start, 0)
    union = np.subtract(rows[:, 1], rows[:, 0])[:, None] + np.subtract(columns[:, 1], columns[:, 0]) - shared
    return np.asarray(shared / np.maximum(union, 1))


def _sort_spans(documents: SpanPairs) -> Iterable[tuple[list[WordSpan], list[WordSpan]]]:
    return ((sorted(set(gold)), sorted(set(predicted))) for gold, predicted in documents)


def _hits_of_any(gold: list[WordSpan], predicted: list[WordSpan], threshold: float) -> Counts:
    hits = int((iou_matrix(predicted, gold).max(axis=1) >= threshold).sum()) if gold and predicted else 0
    return Counts(hits, len(gold), len(predicted))


def _hits_of_matching(gold: list[WordSpan], predicted: list[WordSpan], threshold: float) -> Counts:
    if not gold or not predicted:
        return Counts(0, len(gold), len(predicted))
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    partners = maximum_bipartite_matching(csr_array(iou_matrix(predicted, gold) >= threshold))
    return Counts(int((partners >= 0).sum()), len(gold), len(predicted))
