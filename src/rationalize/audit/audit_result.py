"""The findings of an audit, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from rationalize.audit.audit_config import AuditConfig
from rationalize.audit.audit_findings import LeaningColumn, LeaningWord
from rationalize.files import JsonObject
from rationalize.types import Span

HEURISTIC = (
    "Association cannot distinguish evidence from shortcuts. Without gold rationales, an associated phrase is "
    "suspected because it is repeated word for word, which is a heuristic: a person must judge every phrase."
)
WITH_GOLD = (
    "Phrases inside gold rationales were left out; of the others, an associated phrase is suspected because it is "
    "repeated word for word. If rationales are few or incomplete, this is a heuristic: a person must judge."
)


SHOWN_COLUMNS = 3
"""Number of further columns, or words for groups of people, that a sentence names."""


@dataclass(frozen=True)
class Context:
    """A stretch of a document around an occurrence; spans are offsets into `text`."""

    id: str
    label: str
    text: str
    shortcuts: tuple[Span, ...]
    gold: tuple[Span, ...]


@dataclass(frozen=True)
class Phrase:
    """A phrase that correlates with a label.

    Attributes:
        words: The phrase, lower case.
        pattern: The phrase with the fixed words around it, `…` where any word may stand.
        fillers: The commonest words at each `…`.
        occurrences: Number of occurrences outside gold rationales.
        documents: Number of documents with it; of those with `label`, only where it is outside gold.
        label: The label that it correlates with.
        together: Number of documents with the phrase and the label.
        share: The label's share of the documents with the phrase.
        base: The label's share of all documents.
        lift: share / base.
        p_value: Two-sided hypergeometric test, corrected by Holm's method.
        cohesion: How fixed the phrase is, 0 to 1.
        gold_share: Share of its occurrences in annotated documents that touch gold; None: no such occurrence.
        variants: The commonest n-grams that are pieces or variants of it.
        contexts: Examples.
        flipped: Share of sampled documents with the phrase whose predicted label changed when suspected phrases
            were replaced at random.
        selected: Share of sampled occurrences that the given model put in its rationale.
    """

    words: str
    pattern: str
    fillers: tuple[tuple[str, ...], ...]
    occurrences: int
    documents: int
    label: str
    together: int
    share: float
    base: float
    lift: float
    p_value: float
    cohesion: float
    gold_share: float | None
    variants: tuple[str, ...]
    contexts: tuple[Context, ...]
    flipped: float | None = None
    selected: float | None = None


@dataclass(frozen=True)
class Accuracy:
    """Cross-validated accuracy of three predictors. None: too few documents per label.

    Attributes:
        majority: Always the commonest label.
        phrases: A logistic regression that sees only which suspected phrases occur; they are chosen again in
            each fold, without its held-out documents.
        all_words: A logistic regression on all words and pairs of words.
    """

    majority: float
    phrases: float | None
    all_words: float | None


@dataclass(frozen=True)
class Effect:
    """How replacing words changes predictions.

    Attributes:
        replaced: What was replaced by what.
        documents: Number of documents tried.
        changed: Share of the words to replace that did change.
        flipped: Share of documents whose predicted label changed.
        drop: Mean decrease of the predicted label's probability.
    """

    replaced: str
    documents: int
    changed: float
    flipped: float
    drop: float


@dataclass(frozen=True)
class Audit:
    """The findings of an audit.

    Attributes:
        name: Of the data.
        documents: Distinct documents that were read.
        labels: Documents of each label.
        annotated: Documents with a gold rationale.
        tested: Phrases tested.
        touched: Documents with a suspected phrase.
        suspected: Fixed phrases that correlate with a label, the strongest first.
        evidence: The strongest other phrases that correlate with a label.
        more_evidence: Number of further such phrases.
        columns: What columns of the data, and statistics of the texts, tell about the label, most first.
        words: Single words that correlate with a label, those that name groups of people first.
        more_words: Number of further such words.
        tested_words: Single words tested.
        accuracy: How well the suspected phrases alone predict the label.
        predictor: The source of the predictions behind `effects`.
        effects: How replacing changes predictions.
        notes: Notes about the data.
        config: The settings.
        spans: Where suspected phrases are, by example id.
    """

    name: str
    documents: int
    labels: dict[str, int]
    annotated: int
    tested: int
    touched: int
    suspected: tuple[Phrase, ...]
    evidence: tuple[Phrase, ...]
    more_evidence: int
    columns: tuple[LeaningColumn, ...]
    words: tuple[LeaningWord, ...]
    more_words: int
    tested_words: int
    accuracy: Accuracy
    predictor: str
    effects: tuple[Effect, ...]
    notes: tuple[str, ...]
    config: AuditConfig
    spans: Mapping[str, tuple[Span, ...]]

    @property
    def caution(self) -> str:
        """The limits of the method."""
        return WITH_GOLD if self.annotated else HEURISTIC

    @property
    def suspected_columns(self) -> tuple[LeaningColumn, ...]:
        """Columns that alone predict the label better than its commonest value does."""
        return tuple(column for column in self.columns if column.suspected)

    @property
    def headline(self) -> str:
        """What the strongest column gives away; empty if none does. Nothing in the texts can be worse."""
        if not self.suspected_columns:
            return ""
        first, *others = self.suspected_columns
        more = ", ".join(f"{column.name} {column.accuracy:.1%}" for column in others[:SHOWN_COLUMNS])
        return (
            f"{first.title} alone predicts the label of {first.accuracy:.1%} of the documents (commonest label: "
            f"{first.majority:.1%})." + (f" So do others: {more}." if more else "")
        )

    @property
    def verdict(self) -> str:
        """The findings in a few sentences, the worst first."""
        return " ".join(filter(None, (self.headline, self._describe_phrases(), self._describe_identities())))

    def _describe_identities(self) -> str:
        named = [word for word in self.words if word.identity]
        if not named:
            return ""
        shown = ", ".join(f"{word.word} ({word.label} in {word.share:.0%})" for word in named[:SHOWN_COLUMNS])
        return f"Words for groups of people correlate with a label: {shown}."

    def _describe_phrases(self) -> str:
        sizes = f"{self.config.min_words} to {self.config.max_words} words"
        if not self.suspected:
            return f"No fixed phrase of {sizes} correlates with a label ({self.tested} phrases tested)."
        count = len(self.suspected)
        found = f"{count} fixed {'phrases correlate' if count > 1 else 'phrase correlates'} with a label"
        where = f"in {self.touched} of {self.documents} documents"
        return f"{found}, {where}. {self._describe_accuracy()}".strip()

    def _describe_accuracy(self) -> str:
        if self.accuracy.phrases is None or self.accuracy.all_words is None:
            return ""
        return (
            f"They alone predict the label of {self.accuracy.phrases:.1%} of the documents "
            f"(commonest label: {self.accuracy.majority:.1%}, all words: {self.accuracy.all_words:.1%})."
        )

    def to_dict(self) -> JsonObject:
        """Return plain values, ready for JSON."""
        row = {
            **asdict(replace(self, spans={})),
            "config": self.config.model_dump(),
            "headline": self.headline,
            "verdict": self.verdict,
            "caution": self.caution,
        }
        for phrase in (*row["suspected"], *row["evidence"]):
            for context in phrase["contexts"]:
                for layer in ("shortcuts", "gold"):
                    context[layer] = [[span["start"], span["end"]] for span in context[layer]]
        row["spans"] = {id: [[span.start, span.end] for span in spans] for id, spans in self.spans.items()}
        return row
