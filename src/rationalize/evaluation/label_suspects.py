"""Labels that are probably wrong: those that a model would not have given, the surest first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from rationalize.files import JsonObject
from rationalize.inference.confidence import ConfidenceRule
from rationalize.types import Example, Explanation


@dataclass(frozen=True, slots=True)
class LabelSuspect:
    """A text whose label a model would not have given.

    Attributes:
        id: The example's id.
        label: The label that it has.
        predicted: The model's.
        confidence: How sure the model is.
        margin: How much more probable the model finds its own label, 0 to 1.
        review: Whether full text and rationale give different labels; then the model itself is weak here.
        rationale: The words that support the model's label.
        text: The text.
    """

    id: str
    label: str
    predicted: str
    confidence: float
    margin: float
    review: bool | None
    rationale: tuple[str, ...]
    text: str

    def to_dict(self) -> JsonObject:
        """Return plain values, ready for JSON."""
        return asdict(self) | {"rationale": list(self.rationale)}


def find_suspects(pairs: Iterable[tuple[Example, Explanation]]) -> list[LabelSuspect]:
    """Find labels that a model contradicts: where its two readings agree first, then by how sure it is."""
    found = []
    for example, explanation in pairs:
        predicted, confidence = ConfidenceRule().judge(explanation.probabilities)
        if example.label is None or example.label == predicted:
            continue
        margin = explanation.probabilities[predicted] - explanation.probabilities.get(example.label, 0.0)
        sure = confidence if explanation.confidence is None else explanation.confidence
        found.append(
            LabelSuspect(
                example.id,
                example.label,
                predicted,
                sure,
                margin,
                explanation.review,
                explanation.rationale,
                example.text,
            )
        )
    return sorted(found, key=lambda each: (bool(each.review), -each.margin, each.id))
