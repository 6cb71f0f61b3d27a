"""The search of an audit: count phrases, test them, merge them, separate suspected ones from probable evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from rationalize.audit._contexts import choose_places, make_context
from rationalize.audit._single_words import WordSearch, search_words
from rationalize.audit.audit_config import AuditConfig
from rationalize.audit.audit_result import Context, Phrase
from rationalize.shortcuts.merging import FoundSpans, Merged
from rationalize.shortcuts.phrase_rules import count_tests, retest
from rationalize.shortcuts.phrase_search import PhraseSearch, search_phrases
from rationalize.shortcuts.phrases import Ints
from rationalize.shortcuts.word_corpus import WordCorpus

SHOWN_VARIANTS = 5


@dataclass(frozen=True)
class Suspect:
    """A suspected phrase and where it is."""

    phrase: Phrase
    spans: FoundSpans


@dataclass(frozen=True)
class Search:
    """The findings of a search.

    Attributes:
        phrases: The phrases as they were found.
        suspects: Fixed phrases that correlate with a label, the strongest first.
        evidence: The strongest other phrases that correlate with a label.
        more_evidence: Number of further such phrases.
        words: Single words that correlate with a label.
    """

    phrases: PhraseSearch
    suspects: tuple[Suspect, ...]
    evidence: tuple[Phrase, ...]
    more_evidence: int
    words: WordSearch


def search(corpus: WordCorpus, labels: Ints, names: Sequence[str], config: AuditConfig) -> Search:
    """Search for phrases that correlate with a label.

    Args:
        corpus: The documents.
        labels: Index of each document's label.
        names: The labels.
        config: The settings.
    """
    found = search_phrases(corpus, labels, config)
    describer = _Describer(found, labels, names, config)
    return Search(
        phrases=found,
        suspects=tuple(Suspect(describer.describe(each), found.find_spans(each)) for each in found.suspected),
        evidence=tuple(describer.describe(each) for each in found.evidence[: config.evidence]),
        more_evidence=len(found.evidence[config.evidence :]),
        words=search_words(found, labels, names, config),
    )


@dataclass(frozen=True)
class _Describer:
    """Describes phrases."""

    found: PhraseSearch
    labels: Ints
    names: Sequence[str]
    config: AuditConfig

    def describe(self, merged: Merged) -> Phrase:
        index = merged.index
        documents = np.unique(self.found.find_spans(merged).documents)
        own = retest(documents, merged.in_gold, self.labels, count_tests(self.found.candidates, self.labels))
        whole = len(documents) == self.found.candidates.outside[index].sum()
        figures = own.describe(0, self.names)
        if whole:
            figures = replace(figures, p_value=float(self.found.found.adjusted[index]))
        return Phrase(
            words=self.spell(index),
            pattern=" ".join(merged.pattern),
            fillers=merged.fillers,
            occurrences=len(merged.places),
            base=float(own.base[0]),
            **asdict(figures),
            cohesion=float(self.found.candidates.cohesion[index]),
            gold_share=float(self.found.candidates.gold_share()[index])
            if self.found.candidates.annotated[index]
            else None,
            variants=tuple(self.spell(each) for each in merged.variants[:SHOWN_VARIANTS] if each != index),
            contexts=self.choose_contexts(merged, int(own.labels[0])),
        )

    def choose_contexts(self, merged: Merged, label: int) -> tuple[Context, ...]:
        excerpt, documents = self.found.excerpt, self.found.corpus.documents
        places = choose_places(
            excerpt, merged.places, self.labels, label, self.config.contexts, self.config.seed
        )
        return tuple(
            make_context(excerpt.texts, documents[int(excerpt.texts.documents[position])], position, length)
            for position, length in places
        )

    def spell(self, index: int) -> str:
        return self.found.table.spell(
            int(self.found.candidates.lengths[index]), int(self.found.candidates.ids[index])
        )
