"""How far confidence can be trusted: calibration errors, accuracy where two readings agree, floors for a precision."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

from rationalize.files import JsonObject
from rationalize.metrics.counting import mean

BINS = 15


@dataclass(frozen=True, slots=True)
class SureLabel:
    """A predicted label with how sure it is.

    Attributes:
        gold: The true class.
        label: The predicted class.
        probability: Its probability, as the model gives it.
        confidence: The same after temperature scaling.
        agree: Whether the label from the full text is that from the rationale; None: the method has no two readings.
    """

    gold: str
    label: str
    probability: float
    confidence: float
    agree: bool | None = None

    @property
    def right(self) -> bool:
        """Whether the label is true."""
        return self.gold == self.label


@dataclass(frozen=True, slots=True)
class ConfidenceScores:
    """How far a model's confidence can be trusted.

    Attributes:
        n: Labeled examples.
        ece: Expected calibration error of the probabilities: how far confidence is from accuracy, on average.
        ece_calibrated: The same after temperature scaling.
        n_agree: Examples whose label from the full text is that from the rationale; None: no two readings.
        n_disagree: Examples where they differ, marked for review.
        accuracy_agree: Accuracy where they agree.
        accuracy_disagree: Accuracy where they differ.
    """

    n: int
    ece: float
    ece_calibrated: float
    n_agree: int | None
    n_disagree: int | None
    accuracy_agree: float | None
    accuracy_disagree: float | None

    def to_dict(self) -> JsonObject:
        """Return plain values, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Self:
        """Rebuild it from what `to_dict` returned."""
        return cls(**row)


def score_confidence(rows: Iterable[SureLabel]) -> ConfidenceScores | None:
    """Score labels with their confidence; None without any."""
    given = list(rows)
    if not given:
        return None
    known = [row for row in given if row.agree is not None]
    agree, differ = [row for row in known if row.agree], [row for row in known if not row.agree]
    return ConfidenceScores(
        n=len(given),
        ece=calibration_error([row.probability for row in given], [row.right for row in given]),
        ece_calibrated=calibration_error([row.confidence for row in given], [row.right for row in given]),
        n_agree=len(agree) if known else None,
        n_disagree=len(differ) if known else None,
        accuracy_agree=mean(float(row.right) for row in agree),
        accuracy_disagree=mean(float(row.right) for row in differ),
    )


def calibration_error(confidences: Sequence[float], right: Sequence[bool], bins: int = BINS) -> float:
    """Expected calibration error: |accuracy - mean confidence| of equally wide bins, weighted by their examples."""
    groups: dict[int, list[tuple[float, bool]]] = {}
    for confidence, hit in zip(confidences, right, strict=True):
        groups.setdefault(min(int(confidence * bins), bins - 1), []).append((confidence, hit))
    gaps = (abs(sum(hit - confidence for confidence, hit in group)) for group in groups.values())
    return sum(gaps) / len(confidences) if confidences else 0.0


def find_thresholds(rows: Iterable[SureLabel], precision: float) -> dict[str, float | None]:
    """Find, for each predicted label, the lowest confidence from which on it is as often right as wanted.

    Returns:
        By label; None where no confidence is high enough.
    """
    by_label: dict[str, list[SureLabel]] = {}
    for row in rows:
        by_label.setdefault(row.label, []).append(row)
    return {label: _find_threshold(own, precision) for label, own in sorted(by_label.items())}


def _find_threshold(rows: list[SureLabel], precision: float) -> float | None:
    ordered = sorted(rows, key=lambda row: -row.confidence)
    best, right = None, 0
    for count, row in enumerate(ordered, start=1):
        right += row.right
        is_last_of_equals = count == len(ordered) or ordered[count].confidence < row.confidence
        if is_last_of_equals and right >= precision * count:
            best = row.confidence
    return best
