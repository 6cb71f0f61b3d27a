"""Labels that are probably wrong: those that a model would not have given, the surest first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from rationalize.files import JsonObject
from rationalize.inference.confidence import ConfidenceRule
from rationalize.types import Example, Explanation, Span


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

    @property
    def rank(self) -> tuple[bool, float]:
        """What to sort by: first where the model's two readings agree, then by how sure it is."""
        return bool(self.review), -self.margin

    def to_dict(self) -> JsonObject:
        """Return plain values, ready for JSON."""
        return asdict(self) | {"rationale": list(self.rationale)}


def find_suspects(pairs: Iterable[tuple[Example, Explanation]]) -> list[LabelSuspect]:
    """Find labels that a model contradicts, the surest first."""
    found = (
        suspect_label(example, each.probabilities, each.spans, each.review, each.confidence)
        for example, each in pairs
    )
    return sorted((each for each in found if each), key=lambda each: (each.rank, each.id))


def suspect_label(
    example: Example,
    probabilities: Mapping[str, float],
    spans: Iterable[Span],
    review: bool | None,
    confidence: float | None = None,
) -> LabelSuspect | None:
    """Return what speaks against an example's label; None if it has none, or the model agrees."""
    predicted, sure = ConfidenceRule().judge(probabilities)
    if example.label is None or example.label == predicted:
        return None
    return LabelSuspect(
        id=example.id,
        label=example.label,
        predicted=predicted,
        confidence=sure if confidence is None else confidence,
        margin=probabilities[predicted] - probabilities.get(example.label, 0.0),
        review=review,
        rationale=tuple(example.text[span.start : span.end] for span in spans),
        text=example.text,
    )
