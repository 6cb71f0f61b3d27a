"""Findings of an audit beside phrases: single words, and columns of the data or of the texts' looks."""

from __future__ import annotations

from dataclasses import dataclass

from rationalize.shortcuts.association import Leaning


@dataclass(frozen=True)
class LeaningWord(Leaning):
    """A single word that correlates with a label, outside gold rationales and suspected phrases.

    Attributes:
        word: The word, lower case.
        base: The label's share of all documents.
        gold_share: Share of its occurrences in annotated documents that are gold; None: no such occurrence.
        identity: Whether it names a group of people (an English list): in moderation data, the usual shortcut.
    """

    word: str
    base: float
    gold_share: float | None
    identity: bool


@dataclass(frozen=True)
class LeaningValue(Leaning):
    """A value of a column, or a range of values, that correlates with a label.

    Attributes:
        value: The value or the range, as text.
    """

    value: str


@dataclass(frozen=True)
class LeaningColumn:
    """What a column of the data, or a statistic of the text, tells about the label.

    Attributes:
        name: The column's name.
        measured: Whether it was measured on the texts (length, punctuation …); else it came with the data.
        documents: Number of documents that have a value.
        values: Number of different values; numbers and dates are put into ranges.
        accuracy: Share of documents whose label is guessed from the column alone, on held-out folds: the commonest
            label of the other documents with that value. None: too few documents.
        majority: The same of the commonest label of all.
        p_value: One-sided sign test of the former against the latter (McNemar), corrected by Holm's method over all
            columns. None: too few documents.
        leaning: Values that correlate with a label, the strongest first.
        suspected: Whether the guess is significantly better, and by enough to matter.
    """

    name: str
    measured: bool
    documents: int
    values: int
    accuracy: float | None
    majority: float
    p_value: float | None
    leaning: tuple[LeaningValue, ...]
    suspected: bool

    @property
    def gain(self) -> float:
        """How much better than the commonest label; 0 if not tried."""
        return 0.0 if self.accuracy is None else self.accuracy - self.majority

    @property
    def title(self) -> str:
        """The column as a sentence names it."""
        return f"A look at the text's {self.name}" if self.measured else f"The column {self.name}"
