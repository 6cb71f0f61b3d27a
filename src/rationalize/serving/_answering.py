"""Answer texts that are read together, each as if it had been read alone."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rationalize.files import JsonObject, to_json
from rationalize.inference.confidence import ConfidenceRule
from rationalize.serving.served_model import ServedModel
from rationalize.serving.text_queue import ModelQuestion
from rationalize.serving.ticket import Answer, UnreadText
from rationalize.types import Example, Explanation

ROUNDING = 1e-5
"""More than the rounding differences between reading a text alone and in a batch."""

log = logging.getLogger("rationalize.serving")


@dataclass(frozen=True, slots=True)
class Prediction:
    """A label without a rationale."""

    id: str
    label: str
    probabilities: dict[str, float]
    confidence: float

    def to_dict(self) -> JsonObject:
        """Return plain values, ready for JSON."""
        return {
            "id": self.id,
            "label": self.label,
            "probabilities": self.probabilities,
            "confidence": self.confidence,
        }


def answer_together(model: ServedModel, question: ModelQuestion, examples: Sequence[Example]) -> list[Answer]:
    """Return one answer per example. A text that the model cannot read fails alone."""
    try:
        rule = ConfidenceRule(model.facts.temperature, model.facts.min_confidence)
        found = _ask(model, question, examples)
        if len(examples) > 1:
            found = [
                _ask(model, question, [example])[0] if depends_on_rounding(item, rule) else item
                for example, item in zip(examples, found, strict=True)
            ]
        return [to_json(item.to_dict(), indent=None).encode() for item in found]
    except Exception as error:  # the service survives any error of a model
        if len(examples) == 1:
            log_without_message("a model failed on a text", error)
            return [UnreadText(type(error).__name__)]
        return [answer for example in examples for answer in answer_together(model, question, [example])]


def _ask(
    model: ServedModel, question: ModelQuestion, examples: Sequence[Example]
) -> Sequence[Explanation | Prediction]:
    if question.kind == "explain":
        return model.explain(examples, truncate=question.truncate)
    rule = ConfidenceRule(model.facts.temperature, model.facts.min_confidence)
    predicted = model.predict(examples, truncate=question.truncate)
    return [_judge(example, found, rule) for example, found in zip(examples, predicted, strict=True)]


def _judge(example: Example, probabilities: dict[str, float], rule: ConfidenceRule) -> Prediction:
    label, confidence = rule.judge(probabilities)
    return Prediction(example.id, label, probabilities, confidence)


def depends_on_rounding(item: Explanation | Prediction, rule: ConfidenceRule) -> bool:
    """Return whether a label, its being withheld, or the choice of words, is so close that rounding could change it.

    Padding and batch size change the order in which floats are added, so the last digits of a text's numbers
    depend on its batch. If a choice depends on them, the text has to be read alone.
    """
    if _is_tie(item.probabilities) or _is_at_floor(item, rule):
        return True
    if isinstance(item, Prediction):
        return False
    if any(
        _is_tie(each) for each in (item.from_full_text, item.from_rationale) if each
    ):  # `review` compares them
        return True
    inside = min((score for score, own in zip(item.scores, item.selected, strict=True) if own), default=1.0)
    outside = max(
        (score for score, own in zip(item.scores, item.selected, strict=True) if not own), default=0.0
    )
    # Far below 0: words were not chosen by score alone (but as whole sentences, say), so scores do not matter.
    return abs(inside - outside) <= ROUNDING


def _is_tie(probabilities: Mapping[str, float]) -> bool:
    first, second, *_ = [*sorted(probabilities.values(), reverse=True), 0.0]
    return first - second <= ROUNDING


def _is_at_floor(item: Explanation | Prediction, rule: ConfidenceRule) -> bool:
    floor = rule.floors.get(max(item.probabilities, key=item.probabilities.__getitem__))
    if floor is None or item.confidence is None:
        return False
    return abs(item.confidence - floor) <= ROUNDING * max(1.0, 1 / rule.temperature)


def log_without_message(what: str, error: BaseException) -> None:
    """Log where an error came from, but not its message, which may contain a caller's text."""
    frames = "".join(traceback.format_tb(error.__traceback__))
    log.error("%s: %s\n%s", what, type(error).__name__, frames)
