"""From texts that are read together to their answers, each as if the text had been read alone."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rationalize.files import to_json
from rationalize.serving._text_queue import ModelQuestion
from rationalize.serving._ticket import Answer, UnreadText
from rationalize.serving.served_model import ServedModel
from rationalize.types import Example, Explanation

ROUNDING = 1e-5
"""More than the last digits of scores and probabilities move with the company in which a text is read."""

log = logging.getLogger("rationalize.serving")


@dataclass(frozen=True, slots=True)
class Prediction:
    """A label without its words."""

    id: str
    label: str
    probabilities: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {"id": self.id, "label": self.label, "probabilities": self.probabilities}


def answer_together(model: ServedModel, question: ModelQuestion, examples: Sequence[Example]) -> list[Answer]:
    """One answer per example. A text that the model cannot take fails alone."""
    try:
        found = _ask(model, question, examples)
        if len(examples) > 1:
            found = [
                _ask(model, question, [example])[0] if hangs_on_rounding(item) else item
                for example, item in zip(examples, found, strict=True)
            ]
        return [to_json(item.to_dict(), indent=None).encode() for item in found]
    except Exception as error:  # whatever a model raises, the service goes on
        if len(examples) == 1:
            log_without_message("a model failed on a text", error)
            return [UnreadText(type(error).__name__)]
        return [answer for example in examples for answer in answer_together(model, question, [example])]


def _ask(
    model: ServedModel, question: ModelQuestion, examples: Sequence[Example]
) -> Sequence[Explanation | Prediction]:
    if question.kind == "explain":
        return model.explain(examples, truncate=question.truncate)
    return [
        Prediction(example.id, max(found, key=found.__getitem__), found)
        for example, found in zip(examples, model.predict(examples, truncate=question.truncate), strict=True)
    ]


def hangs_on_rounding(item: Explanation | Prediction) -> bool:
    """Whether the label, or the choice of words by score, is so close that last digits could turn it.

    Padding and the number of rows change the order in which floats are added up, so the last digits of a text's
    numbers depend on its company. Where a choice hangs on them, the text has to be read alone.
    """
    first, second, *_ = [*sorted(item.probabilities.values(), reverse=True), 0.0]
    if first - second <= ROUNDING:
        return True
    if isinstance(item, Prediction):
        return False
    inside = min((score for score, own in zip(item.scores, item.selected, strict=True) if own), default=1.0)
    outside = max(
        (score for score, own in zip(item.scores, item.selected, strict=True) if not own), default=0.0
    )
    # Far below 0: words were not chosen by score alone (whole sentences, say), and this comparison tells nothing.
    return abs(inside - outside) <= ROUNDING


def log_without_message(what: str, error: BaseException) -> None:
    """Log where an error came from, but not what it says: that may hold a caller's text."""
    frames = "".join(traceback.format_tb(error.__traceback__))
    log.error("%s: %s\n%s", what, type(error).__name__, frames)
