"""Search labeled texts for fixed phrases that go with a label and that nobody marked as evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rationalize.data.dataset import list_labels
from rationalize.shortcuts._gram_counting import count_grams
from rationalize.shortcuts._gram_table import GramTable
from rationalize.shortcuts.association import Association
from rationalize.shortcuts.candidates import Candidates, find_candidates
from rationalize.shortcuts.excerpt import Excerpt, cut_excerpt
from rationalize.shortcuts.finding import Discovered
from rationalize.shortcuts.merging import FoundSpans, Merged, Merger, find_spans
from rationalize.shortcuts.phrase_rules import PhraseRules, find_associations, is_associated, is_fixed
from rationalize.shortcuts.phrases import Bools, Ints
from rationalize.shortcuts.shard_arrays import ShardArrays, ShardCrew
from rationalize.shortcuts.word_corpus import WordCorpus, hold_documents, read_corpus
from rationalize.text.words import WordRule
from rationalize.types import Example


@dataclass(frozen=True)
class PhraseSearch:
    """The findings of a search.

    Attributes:
        corpus: The documents.
        table: Their n-grams.
        candidates: All tested phrases.
        found: The label that each candidate goes with.
        excerpt: The sentences with phrases that go with a label.
        suspected: Fixed phrases that go with a label, the strongest first.
        evidence: Other phrases that go with a label, the strongest first.
    """

    corpus: WordCorpus
    table: GramTable
    candidates: Candidates
    found: Association
    excerpt: Excerpt
    suspected: list[Merged]
    evidence: list[Merged]

    def find_spans(self, phrase: Merged) -> FoundSpans:
        """Find the spans of a phrase."""
        return find_spans(self.excerpt.texts, phrase.places)

    def collect_spans(self) -> FoundSpans:
        """Collect the spans of suspected phrases, sorted, each once."""
        found = [self.find_spans(phrase) for phrase in self.suspected]
        rows = [np.stack([each.documents, each.starts, each.ends]) for each in found]
        unique = np.unique(np.concatenate([np.zeros((3, 0), np.int64), *rows], axis=1), axis=1)
        return FoundSpans(*unique)


def search_phrases(corpus: WordCorpus, labels: Ints, rules: PhraseRules) -> PhraseSearch:
    """Search for phrases that go with a label.

    Args:
        corpus: The documents.
        labels: Index of each document's label.
        rules: When a phrase is suspected.
    """
    table = count_grams(corpus, rules.max_words, rules.min_documents)
    lengths = range(rules.min_words, rules.max_words + 1)
    n_labels = int(labels.max()) + 1
    candidates = find_candidates(corpus, table, lengths, rules.min_documents, n_labels)
    found = find_associations(candidates, labels)
    chosen, steady = is_associated(found, rules), is_fixed(candidates, rules)
    excerpt = cut_excerpt(corpus, table, candidates, np.flatnonzero(chosen).tolist())
    merger = Merger(excerpt, table, candidates, labels, rules)
    suspected = merger.merge(_sort_by_strength(found, chosen & steady))
    evidence = merger.merge(_sort_by_strength(found, chosen & ~steady))
    return PhraseSearch(corpus, table, candidates, found, excerpt, suspected, evidence)


def suspect(
    examples: Sequence[Example], rule: WordRule, rules: PhraseRules | None = None
) -> list[Discovered]:
    """Find the suspected phrases of labeled examples, annotated or not.

    No model is asked, so nothing has to be trained first, and every occurrence is found, not only those that a
    model happens to select.
    """
    names = list_labels(examples)
    labels = np.array([names.index(str(example.label)) for example in examples])
    corpus = read_corpus(hold_documents(examples), labels, rule, ShardArrays(), ShardCrew())
    found = search_phrases(corpus, labels, rules or PhraseRules()).collect_spans()
    spans = found.select(np.unique(found.documents))
    return [Discovered(example, tuple(spans.get(index, ()))) for index, example in enumerate(examples)]


def _sort_by_strength(found: Association, chosen: Bools) -> list[int]:
    indexes = np.flatnonzero(chosen)
    # Tiny p-values round to 0; among them, the phrase that affects more documents comes first.
    weight = found.difference[indexes] * found.documents[indexes]
    order: list[int] = indexes[np.lexsort((-weight, found.p_values[indexes]))].tolist()
    return order
