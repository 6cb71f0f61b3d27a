"""Task scores: how well labels are predicted.

`task_f1_weighted` is scikit-learn's `average="weighted"`, SSR's task score and the "weighted avg" of ERASER's
report. Other papers print binary, macro or micro F1 under the same name: convert before comparing.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rationalize.errors import DataError
from rationalize.metrics.counting import Counts, mean, prf, ratio


@dataclass(frozen=True, slots=True)
class ClassScores:
    """Precision, recall and F1 of one class; `support` counts its true examples."""

    p: float
    r: float
    f1: float
    support: int


def task_accuracy(gold: Sequence[str], predicted: Sequence[str]) -> float | None:
    """Return the share of correct labels; None for no examples."""
    _check_lengths(gold, predicted)
    return mean(float(truth == guess) for truth, guess in zip(gold, predicted))


def class_report(gold: Sequence[str], predicted: Sequence[str]) -> dict[str, ClassScores]:
    """Score every class that is true or predicted anywhere, in alphabetical order.

    A predicted label that no example has counts as wrong, with a warning (ERASER stops with a KeyError).
    """
    _check_lengths(gold, predicted)
    _warn_of_unseen(unseen_labels(gold, predicted))
    return class_scores(confusion(gold, predicted))


def task_f1_weighted(gold: Sequence[str], predicted: Sequence[str]) -> float | None:
    """Average the F1 of the classes, weighted by how often each is the **true** one; None for no examples.

    A class that is only ever predicted has weight 0; a class never predicted adds 0 with its weight.
    """
    report = class_report(gold, predicted)
    return ratio(sum(scores.f1 * scores.support for scores in report.values()), len(gold))


def class_scores(confused: Mapping[str, Mapping[str, int]]) -> dict[str, ClassScores]:
    """Score every class by the counts of `confusion`, in alphabetical order."""
    report = {}
    for label in sorted(confused):
        predicted = sum(row.get(label, 0) for row in confused.values())
        counts = Counts(confused[label].get(label, 0), sum(confused[label].values()), predicted)
        scores = prf(counts)
        report[label] = ClassScores(scores.p, scores.r, scores.f1, counts.gold)
    return report


def confusion(gold: Sequence[str], predicted: Sequence[str]) -> dict[str, dict[str, int]]:
    """Count how often each true label (outer key) was predicted as each label (inner key), zeros included."""
    _check_lengths(gold, predicted)
    pairs = Counter(zip(gold, predicted))
    labels = sorted({*gold, *predicted})
    return {truth: {guess: pairs[truth, guess] for guess in labels} for truth in labels}


def unseen_labels(gold: Sequence[str], predicted: Sequence[str]) -> list[str]:
    """List predicted labels that no example has."""
    return sorted(set(predicted) - set(gold))


def _check_lengths(gold: Sequence[str], predicted: Sequence[str]) -> None:
    if len(gold) != len(predicted):
        raise DataError(
            f"got {len(gold)} gold labels but {len(predicted)} predicted ones. Give one of each per example."
        )


def _warn_of_unseen(labels: Sequence[str]) -> None:
    if labels:
        names = ", ".join(map(repr, labels))
        warnings.warn(f"Predicted labels that no example has, counted as wrong: {names}.", stacklevel=4)
