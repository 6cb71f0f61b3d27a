"""The few values that all rooms share.

Every offset is a position in code points of the *original* text, end-exclusive.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Self

from rationalize.printable import to_one_line

Scalar = str | int | float | bool


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of text, `text[start:end]`.

    `group` keeps alternative pieces of evidence apart (ERASER's evidence groups); most users leave it 0.
    """

    start: int
    end: int
    group: int = 0

    def overlaps(self, other: Span) -> bool:
        """Return whether both have a character in common."""
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class Document:
    """One source document inside an example's text; most examples have none named.

    Attributes:
        id: Its name.
        start: Where it starts in the text, in code points.
        end: Where it ends there, exclusive.
    """

    id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Example:
    """One labeled text.

    Attributes:
        id: Unique inside a split.
        text: The document, or several documents joined (see `documents`).
        label: Class name, or None where it is unknown.
        query: A question or claim about the text, never part of the rationale.
        rationale: Gold spans. None: not annotated. Empty: annotated, but nothing was marked.
        documents: Where the source documents are in the text, in order. Empty: the text is one document.
        shortcuts: Spans known (planted) or found (discovered) to be shortcuts. None: unknown.
        metadata: What else the row had, by name of the field (source, author, date …). No model reads it.
    """

    id: str
    text: str
    label: str | None = None
    query: str | None = None
    rationale: tuple[Span, ...] | None = None
    documents: tuple[Document, ...] = ()
    shortcuts: tuple[Span, ...] | None = None
    metadata: Mapping[str, Scalar] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Explanation:
    """A label and the words that support it: the same object for every method and every front end.

    Attributes:
        text: The original text.
        label: The predicted class; `abstain` if the model is less sure than was asked for.
        probabilities: The probability of every class, from the input that the method decides on.
        spans: The rationale: runs of selected words, as spans of the original text.
        words: Where every word is in the text.
        scores: The selector's score of each word, 0 to 1.
        selected: Whether each word is in the rationale.
        faithful: True if the label depends on nothing but the selected words (and the query).
        method: Id of the method that made it.
        query: The query that was given.
        from_full_text: Class probabilities when the predictor reads everything, if the method has them.
        from_rationale: Class probabilities when the predictor reads the rationale alone, if it has them.
        cut_off: The part of the text that was not read at all, or None.
        id: Id of the example, if it came from one.
        oracle_label: True if the method was given the gold label: then this is no explanation.
        confidence: How sure the most probable class is: its probability, tempered to what dev has shown.
    """

    text: str
    label: str
    probabilities: dict[str, float]
    spans: tuple[Span, ...]
    words: tuple[Span, ...]
    scores: tuple[float, ...]
    selected: tuple[bool, ...]
    faithful: bool
    method: str
    query: str | None = None
    from_full_text: dict[str, float] | None = None
    from_rationale: dict[str, float] | None = None
    cut_off: Span | None = None
    id: str | None = field(default=None)
    oracle_label: bool = False
    confidence: float | None = None

    renderers: ClassVar[dict[str, Callable[[Explanation], Any]]] = {}
    """How to show an explanation, by medium (html, rich). The front door fills it in: values cannot render."""

    @property
    def rationale(self) -> tuple[str, ...]:
        """The selected stretches of text."""
        return tuple(self.text[span.start : span.end] for span in self.spans)

    @property
    def probability(self) -> float:
        """The probability of the label, or of the class that was most probable where the model abstains."""
        return self.probabilities.get(self.label, max(self.probabilities.values()))

    @property
    def review(self) -> bool | None:
        """Whether a person should look: the full text alone gives another label than the rationale alone.

        None: the method does not read both.
        """
        if self.from_full_text is None or self.from_rationale is None:
            return None
        first, second = (
            max(each, key=each.__getitem__) for each in (self.from_full_text, self.from_rationale)
        )
        return first != second

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        # Field by field: `asdict` would copy every word's span, and take as long as a small model takes to read.
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        row = {name: dict(value) if isinstance(value, dict) else value for name, value in values.items()}
        row["rationale"] = list(self.rationale)
        row["review"] = self.review
        row["spans"] = [[span.start, span.end] for span in self.spans]
        row["words"] = [[span.start, span.end] for span in self.words]
        row["cut_off"] = [self.cut_off.start, self.cut_off.end] if self.cut_off else None
        return row

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Self:
        """Rebuild an explanation from what `to_dict` returned."""
        values = {name: row[name] for name in row if name not in ("rationale", "review")}
        values |= {name: tuple(Span(*pair) for pair in row[name]) for name in ("spans", "words")}
        values |= {"scores": tuple(row["scores"]), "selected": tuple(row["selected"])}
        return cls(**{**values, "cut_off": Span(*row["cut_off"]) if row["cut_off"] else None})

    def to_html(self) -> str:
        """Render the text with its rationale highlighted, as a self-contained, escaped HTML fragment."""
        return str(self.renderers["html"](self))

    def _repr_html_(self) -> str:
        return self.to_html()

    def __rich__(self) -> Any:
        return self.renderers["rich"](self)

    def __str__(self) -> str:
        rationale = " … ".join(" ".join(piece.split()) for piece in self.rationale) or "(nothing selected)"
        return to_one_line(f"{self.label} ({self.probability:.2f}): {rationale}")
