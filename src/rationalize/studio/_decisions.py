"""What a person has decided about a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rationalize.types import Span

AnnotationState = Literal["open", "done", "skipped"]
"""open: begun, but not given out of hand; only `done` is exported and learned from."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """One person's words, label and note for one text.

    Attributes:
        number: The text.
        person: The annotator's name.
        state: How far it is.
        spans: The marked stretches, in code points.
        label: The class, corrected or not; None: the text has none.
        note: A remark.
        change: Number of the change that led to it; 0: none yet.
    """

    number: int
    person: str
    state: AnnotationState
    spans: tuple[Span, ...]
    label: str | None
    note: str = ""
    change: int = 0


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What a model would mark.

    Attributes:
        number: The text.
        label: The predicted class.
        probabilities: Of every class.
        spans: The rationale, in code points.
        review: Whether the rationale alone and the full text give different labels.
    """

    number: int
    label: str
    probabilities: dict[str, float]
    spans: tuple[Span, ...]
    review: bool = False


@dataclass(frozen=True, slots=True)
class PhraseVerdict:
    """A person's judgment of a suspected phrase.

    Attributes:
        phrase: Its words.
        pattern: The phrase with the fixed words around it, `…` where any word may stand.
        verdict: What it is.
        person: Who judged.
    """

    phrase: str
    pattern: str
    verdict: Literal["shortcut", "evidence"]
    person: str
