"""Search labeled texts for fixed phrases that go with a label and that nobody marked as evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rationalize.data.dataset import list_labels
from rationalize.shortcuts.association import Association
from rationalize.shortcuts.candidates import Candidates, find_candidates
from rationalize.shortcuts.finding import Discovered
from rationalize.shortcuts.merging import Merged, Merger, find_spans
from rationalize.shortcuts.phrase_rules import PhraseRules, find_associations, is_associated, is_fixed
from rationalize.shortcuts.phrases import Bools, Grams, Ints, Texts, count_grams, read_texts
from rationalize.text.words import WordRule
from rationalize.types import Example, Span


@dataclass(frozen=True)
class PhraseSearch:
    """The findings of a search.

    Attributes:
        texts: The documents.
        grams: Their n-grams, by length.
        candidates: All tested phrases.
        found: The label that each candidate goes with.
        suspected: Fixed phrases that go with a label, the strongest first.
        evidence: Other phrases that go with a label, the strongest first.
    """

    texts: Texts
    grams: dict[int, Grams]
    candidates: Candidates
    found: Association
    suspected: list[Merged]
    evidence: list[Merged]

    def find_spans(self, phrase: Merged) -> dict[int, list[Span]]:
        """Find the spans of a phrase, by index of the document."""
        return find_spans(self.texts, phrase.places)

    def collect_spans(self) -> dict[int, tuple[Span, ...]]:
        """Collect the spans of suspected phrases, by index of the document."""
        found: dict[int, set[Span]] = {}
        for phrase in self.suspected:
            for document, spans in self.find_spans(phrase).items():
                found.setdefault(document, set()).update(spans)
        return {document: tuple(sorted(spans)) for document, spans in sorted(found.items())}


def search_phrases(
    examples: Sequence[Example], labels: Ints, rules: PhraseRules, rule: WordRule
) -> PhraseSearch:
    """Search for phrases that go with a label.

    Args:
        examples: The documents.
        labels: Index of each document's label.
        rules: When a phrase is suspected.
        rule: The definition of a word.
    """
    texts = read_texts(examples, rule)
    grams = count_grams(texts, rules.max_words, rules.min_documents)
    candidates = find_candidates(texts, grams, rules.min_words, rules.max_words, rules.min_documents)
    found = find_associations(candidates, labels)
    chosen, steady = is_associated(found, rules), is_fixed(candidates, rules)
    merger = Merger(texts, grams, candidates, labels, rules)
    suspected = merger.merge(_sort_by_strength(found, chosen & steady))
    evidence = merger.merge(_sort_by_strength(found, chosen & ~steady))
    return PhraseSearch(texts, grams, candidates, found, suspected, evidence)


def suspect(
    examples: Sequence[Example], rule: WordRule, rules: PhraseRules | None = None
) -> list[Discovered]:
    """Find the suspected phrases of labeled examples, annotated or not.

    No model is asked, so nothing has to be trained first, and every occurrence is found, not only those that a
    model happens to select.
    """
    names = list_labels(examples)
    labels = np.array([names.index(str(example.label)) for example in examples])
    spans = search_phrases(examples, labels, rules or PhraseRules(), rule).collect_spans()
    return [Discovered(example, spans.get(index, ())) for index, example in enumerate(examples)]


def _sort_by_strength(found: Association, chosen: Bools) -> list[int]:
    indexes = np.flatnonzero(chosen)
    # Tiny p-values round to 0; among them, the phrase that affects more documents comes first.
    weight = found.difference[indexes] * found.documents[indexes]
    order: list[int] = indexes[np.lexsort((-weight, found.p_values[indexes]))].tolist()
    return order
