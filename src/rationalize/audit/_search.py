"""The search of an audit: count phrases, test them, merge them, separate suspected ones from probable evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rationalize.audit._association import Association
from rationalize.audit._candidates import Candidates, find_candidates
from rationalize.audit._contexts import choose_contexts
from rationalize.audit._merging import Merged, Merger, find_spans
from rationalize.audit._phrases import Bools, Ints, Texts, count_grams, read_texts
from rationalize.audit._single_words import WordSearch, search_words
from rationalize.audit.audit_result import Phrase
from rationalize.audit.rules import (
    AuditConfig,
    count_tests,
    find_associations,
    is_associated,
    is_fixed,
    retest,
)
from rationalize.text.words import WordRule
from rationalize.types import Example, Span

SHOWN_VARIANTS = 5


@dataclass(frozen=True)
class Suspect:
    """A suspected phrase and its spans, by index of the document."""

    phrase: Phrase
    spans: dict[int, list[Span]]


@dataclass(frozen=True)
class Search:
    """The findings of a search.

    Attributes:
        texts: The documents.
        candidates: All tested phrases.
        suspects: Fixed phrases that correlate with a label, the strongest first.
        evidence: The strongest other phrases that correlate with a label.
        more_evidence: Number of further such phrases.
        words: Single words that correlate with a label.
    """

    texts: Texts
    candidates: Candidates
    suspects: tuple[Suspect, ...]
    evidence: tuple[Phrase, ...]
    more_evidence: int
    words: WordSearch

    def collect_spans(self) -> dict[int, tuple[Span, ...]]:
        """Collect the spans of suspected phrases, by index of the document."""
        found: dict[int, set[Span]] = {}
        for suspect in self.suspects:
            for document, spans in suspect.spans.items():
                found.setdefault(document, set()).update(spans)
        return {document: tuple(sorted(spans)) for document, spans in sorted(found.items())}


def search(
    examples: Sequence[Example], labels: Ints, names: Sequence[str], config: AuditConfig, rule: WordRule
) -> Search:
    """Search for phrases that correlate with a label.

    Args:
        examples: The documents.
        labels: Index of each document's label.
        names: The labels.
        config: The settings.
        rule: The definition of a word.
    """
    texts = read_texts(examples, rule)
    grams = count_grams(texts, config.max_words, config.min_documents)
    candidates = find_candidates(texts, grams, config.min_words, config.max_words, config.min_documents)
    found = find_associations(candidates, labels)
    chosen, steady = is_associated(found, config), is_fixed(candidates, config)
    merger = Merger(texts, grams, candidates, labels, config)
    suspected = merger.merge(_sort_by_strength(found, chosen & steady))
    evidence = merger.merge(_sort_by_strength(found, chosen & ~steady))
    describer = _Describer(texts, candidates, found, labels, names, config)
    return Search(
        texts=texts,
        candidates=candidates,
        suspects=tuple(
            Suspect(describer.describe(each), find_spans(texts, each.places)) for each in suspected
        ),
        evidence=tuple(describer.describe(each) for each in evidence[: config.evidence]),
        more_evidence=len(evidence[config.evidence :]),
        words=search_words(
            texts, grams, (place for each in suspected for place in each.places), labels, names, config
        ),
    )


def _sort_by_strength(found: Association, chosen: Bools) -> list[int]:
    indexes = np.flatnonzero(chosen)
    # Tiny p-values round to 0; among them, the phrase that affects more documents comes first.
    weight = found.difference[indexes] * found.documents[indexes]
    order: list[int] = indexes[np.lexsort((-weight, found.p_values[indexes]))].tolist()
    return order


@dataclass(frozen=True)
class _Describer:
    """Describes phrases."""

    texts: Texts
    candidates: Candidates
    found: Association
    labels: Ints
    names: Sequence[str]
    config: AuditConfig

    def describe(self, merged: Merged) -> Phrase:
        index = merged.index
        documents = np.array(sorted(find_spans(self.texts, merged.places)))
        own = retest(documents, merged.in_gold, self.labels, count_tests(self.candidates, self.labels))
        whole = len(documents) == self.candidates.incidence[:, [index]].sum()
        label = self.names[own.labels[0]]
        return Phrase(
            words=self.spell(index),
            pattern=" ".join(merged.pattern),
            fillers=merged.fillers,
            occurrences=len(merged.places),
            documents=int(own.documents[0]),
            label=label,
            together=int(own.together[0]),
            share=float(own.shares[0]),
            base=float(own.base[0]),
            lift=float(own.lift[0]),
            p_value=float(self.found.adjusted[index] if whole else own.adjusted[0]),
            cohesion=float(self.candidates.cohesion[index]),
            gold_share=float(self.candidates.gold_share()[index])
            if self.candidates.annotated[index]
            else None,
            variants=tuple(self.spell(each) for each in merged.variants[:SHOWN_VARIANTS] if each != index),
            contexts=choose_contexts(
                self.texts, merged.places, label, self.config.contexts, self.config.seed
            ),
        )

    def spell(self, index: int) -> str:
        return self.texts.spell(int(self.candidates.firsts[index]), int(self.candidates.lengths[index]))
