"""The input of all scores: a prediction on one document, with its gold label and rationale."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rationalize.errors import DataError
from rationalize.text.words import find_runs


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredInstance:
    """A prediction on one document of one example. Positions are word indexes, end-exclusive.

    An example with several documents becomes several instances with the same `id` and different `document`s.

    Attributes:
        id: Id of the example.
        document: Id of the document inside the example; empty if the example is one document.
        n_words: Length of the **full** document.
        n_words_read: Words that the model read, from the start; the rest was cut off. None: all of them.
        selected: Whether each word is in the predicted rationale.
        scores: The selector's score of each word (0.0 where it was not read), or None.
        gold: Gold spans, which may overlap. None: not annotated. Empty: annotated, nothing marked.
        gold_label: The true class, or None where it is unknown.
        label: The predicted class, from the input that the method decides on.
        label_full_text: The class predicted from the whole text, if the method has one.
        label_rationale: The class predicted from the rationale alone, if the method has one.
        label_query: The class predicted from the query with an empty text, if the example has a query.
        label_bag: The class predicted by a bag of words, if one was trained on the same examples.
        shortcut_words: Whether each word is a known shortcut, or None where that is unknown.
        piece_gold: 0/1 for every word piece that the model saw (specials and query, if given, are 0), or None.
            Evaluations give document pieces alone. In an example with several documents, each piece belongs to one
            instance.
        piece_selected: The same for the predicted rationale.
        piece_selectable: 1 for the pieces that a selector may select, 0 for specials and the query. None: it
            may select every piece.
    """

    id: str
    n_words: int
    selected: tuple[bool, ...]
    label: str
    document: str = ""
    n_words_read: int | None = None
    scores: tuple[float, ...] | None = None
    gold: tuple[tuple[int, int], ...] | None = None
    gold_label: str | None = None
    label_full_text: str | None = None
    label_rationale: str | None = None
    label_query: str | None = None
    label_bag: str | None = None
    shortcut_words: tuple[bool, ...] | None = None
    piece_gold: tuple[int, ...] | None = None
    piece_selected: tuple[int, ...] | None = None
    piece_selectable: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        for name in ("selected", "scores", "shortcut_words"):
            self._check_length(name)
        if not 0 <= self.words_read <= self.n_words:
            self._refuse("n_words_read", self.n_words_read, f"0 to {self.n_words}, or None for all of them")
        if self.scores is not None and not all(map(math.isfinite, self.scores)):
            self._refuse("scores", "NaN or infinity", "finite numbers")
        self._check_pieces("piece_selected", required=self.piece_gold is not None)
        self._check_pieces("piece_selectable", required=False)
        span_mask(self.gold or (), self.n_words, where=self.name)

    @property
    def name(self) -> str:
        """The instance's name in messages."""
        return f"example {self.id!r}" + (f", document {self.document!r}" if self.document else "")

    @property
    def words_read(self) -> int:
        """How many words the model read."""
        return self.n_words if self.n_words_read is None else self.n_words_read

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The predicted rationale as maximal runs of selected words."""
        return tuple(find_runs(self.selected))

    @property
    def gold_mask(self) -> tuple[bool, ...]:
        """Whether each word is gold, in any span; all False without annotation."""
        return span_mask(self.gold or (), self.n_words, where=self.name)

    @property
    def gold_words_lost(self) -> int:
        """How many gold words were cut off before the model could read them."""
        return sum(self.gold_mask[self.words_read :])

    def _check_length(self, field: str) -> None:
        values: Sequence[object] | None = getattr(self, field)
        if values is not None and len(values) != self.n_words:
            self._refuse(
                field, f"{len(values)} values", f"one for each of the document's {self.n_words} words"
            )

    def _check_pieces(self, field: str, *, required: bool) -> None:
        pieces: Sequence[int] | None = getattr(self, field)
        if pieces is None and not required:
            return
        seen, expected = (None if each is None else len(each) for each in (pieces, self.piece_gold))
        if seen != expected:
            self._refuse(field, f"{seen} pieces", f"as many as in piece_gold: {expected}")

    def _refuse(self, field: str, seen: object, expected: str) -> None:
        raise DataError(f"{self.name}: {field}: got {seen}, expected {expected}.")


def span_mask(spans: Iterable[tuple[int, int]], n_words: int, *, where: str = "span") -> tuple[bool, ...]:
    """Mark the words that any span covers; overlaps are merged, a span past the end is refused."""
    mask = [False] * n_words
    for start, end in spans:
        if not 0 <= start <= end <= n_words:
            raise DataError(
                f"{where}: [{start}, {end}) is not inside the document of {n_words} words. "
                "Spans are word indexes, end-exclusive."
            )
        mask[start:end] = [True] * (end - start)
    return tuple(mask)
