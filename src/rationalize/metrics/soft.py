"""Ranking scores: how well the words' scores put gold words before the others.

Each document needs a score for **every** word; words that were not read get 0.0 by convention. Results are plain
means over documents. The area is trapezoidal, like ERASER's, and optimistic: constant scores at gold rate 0.2 give
an AUPRC of 0.6 and an average precision of 0.2.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from rationalize.errors import DataError
from rationalize.metrics.counting import mean

if TYPE_CHECKING:
    import numpy as np

# ERASER's scorer gives this to a document without gold (recall set to 1, precision 0), whatever its scores.
GOLD_FREE_AUPRC = 0.5


@dataclass(frozen=True, slots=True)
class SoftScores:
    """Means over documents; None if no document counts.

    Attributes:
        auprc: Trapezoidal area under the precision-recall curve (ERASER's AUPRC).
        average_precision: Step-wise area, over documents with both gold and other words.
        roc_auc: Area under the ROC curve, over documents with both.
        n_documents: Documents behind `auprc`.
        n_gold_free: Documents without a gold word.
    """

    auprc: float | None
    average_precision: float | None
    roc_auc: float | None
    n_documents: int
    n_gold_free: int


class Areas(NamedTuple):
    """One document's areas; `roc_auc` is None if every word is gold."""

    auprc: float
    average_precision: float
    roc_auc: float | None


def soft_scores(
    documents: Iterable[tuple[Sequence[float], Sequence[bool]]], *, eraser_compat: bool = False
) -> SoftScores:
    """Compute AUPRC, average precision and ROC-AUC of (scores, gold mask) pairs, one per (example, document).

    Args:
        documents: Scores and gold, one value per word of the full document.
        eraser_compat: Give a document without gold an AUPRC of 0.5, as ERASER's scorer does with current
            scikit-learn. By default such documents are skipped and counted. Empty documents never count.
    """
    pairs = [_check(scores, gold) for scores, gold in documents if len(scores) or len(gold)]
    areas = [ranking_areas(*pair) for pair in pairs if any(pair[1])]
    n_gold_free = len(pairs) - len(areas)
    auprcs = [area.auprc for area in areas] + [GOLD_FREE_AUPRC] * (n_gold_free if eraser_compat else 0)
    both = [(area.average_precision, area.roc_auc) for area in areas if area.roc_auc is not None]
    return SoftScores(
        auprc=mean(auprcs),
        average_precision=mean(precision for precision, _ in both),
        roc_auc=mean(roc for _, roc in both),
        n_documents=len(auprcs),
        n_gold_free=n_gold_free,
    )


def ranking_areas(scores: Sequence[float], gold: Sequence[bool]) -> Areas:
    """Compute the areas of one document that has gold words; words of equal score are taken together.

    Equal to scikit-learn's `auc` of `precision_recall_curve`, `average_precision_score`, `roc_auc_score`.
    """
    import numpy as np

    order = np.argsort(-np.asarray(scores, dtype=float), kind="stable")
    ranked, hits = np.asarray(scores, dtype=float)[order], np.asarray(gold, dtype=bool)[order]
    last_of_tie = np.append(np.flatnonzero(np.diff(ranked)), len(ranked) - 1)
    found = np.cumsum(hits)[last_of_tie]
    precision, recall = found / (last_of_tie + 1), found / found[-1]
    others = last_of_tie + 1 - found
    return Areas(
        auprc=_trapezoids(np.append(0.0, recall), np.append(1.0, precision)),
        average_precision=float((np.diff(recall, prepend=0.0) * precision).sum()),
        roc_auc=_trapezoids(np.append(0.0, others / others[-1]), np.append(0.0, recall))
        if others[-1]
        else None,
    )


def _trapezoids(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> float:
    return float((x[1:] - x[:-1]) @ (y[1:] + y[:-1]) / 2)


def _check(scores: Sequence[float], gold: Sequence[bool]) -> tuple[list[float], list[bool]]:
    if len(scores) != len(gold):
        raise DataError(
            f"got {len(scores)} word scores for a document of {len(gold)} words. Give one per word of the full "
            "document, 0.0 for words that were not read."
        )
    if not all(map(math.isfinite, scores)):
        raise DataError("A word score is not a finite number; scores rank words and must be comparable.")
    return [float(score) for score in scores], [bool(value) for value in gold]
