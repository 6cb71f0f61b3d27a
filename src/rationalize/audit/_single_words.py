"""Single words that correlate with a label: identity terms are the shortcut of data on abuse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np

from rationalize.audit._identity_terms import IDENTITY_TERMS
from rationalize.audit.audit_config import AuditConfig
from rationalize.audit.audit_findings import LeaningWord
from rationalize.shortcuts.candidates import Candidates, find_candidates, load_places
from rationalize.shortcuts.merging import expand_places
from rationalize.shortcuts.phrase_rules import find_associations, is_associated, is_fixed
from rationalize.shortcuts.phrase_search import PhraseSearch
from rationalize.shortcuts.phrases import Ints
from rationalize.shortcuts.shard_arrays import ShardArrays


@dataclass(frozen=True)
class WordSearch:
    """The words that correlate with a label, how many more there are, and how many were tested."""

    words: tuple[LeaningWord, ...] = ()
    more: int = 0
    tested: int = 0


def search_words(
    phrases: PhraseSearch, labels: Ints, names: Sequence[str], config: AuditConfig
) -> WordSearch:
    """Search for words that correlate with a label outside gold and outside the suspected phrases."""
    candidates = _find_words(phrases, int(labels.max()) + 1, config)
    if not len(candidates):
        return WordSearch()
    found = find_associations(candidates, labels)
    chosen = np.flatnonzero(is_associated(found, config) & is_fixed(candidates, config))
    words = []
    for index in chosen:
        word = phrases.table.words[candidates.ids[index]]
        gold_share = float(candidates.gold_share()[index]) if candidates.annotated[index] else None
        words.append(
            LeaningWord(
                word=word,
                **asdict(found.describe(int(index), names)),
                base=float(found.base[index]),
                gold_share=gold_share,
                identity=word in IDENTITY_TERMS,
            )
        )
    words.sort(key=lambda each: (not each.identity, each.p_value, -each.lift * each.documents, each.word))
    return WordSearch(tuple(words[: config.words]), len(words[config.words :]), len(candidates))


def _find_words(phrases: PhraseSearch, n_labels: int, config: AuditConfig) -> Candidates:
    """Find the words to test; a suspected phrase is put aside as gold is, so its words are not found once more."""
    corpus, table = phrases.corpus, phrases.table
    places = [expand_places(each.places) for each in phrases.suspected]
    taken = np.unique(phrases.excerpt.origins[np.concatenate([np.zeros(0, np.int64), *places])])
    for number, (first, last) in enumerate(pairwise(corpus.positions)):
        covered = corpus.arrays.load(number, "gold").copy()
        covered[taken[np.searchsorted(taken, first) : np.searchsorted(taken, last)] - first] = True
        corpus.arrays.save(number, "covered", covered)
    found = find_candidates(corpus, table, range(1, 2), config.min_documents, n_labels, gold="covered")
    in_gold = np.zeros(table.size(1), dtype=np.int64)
    for ids, counts in corpus.crew.map(partial(_count_in_gold, corpus.arrays), corpus.shards):
        in_gold[ids] += counts
    return replace(found, in_gold=in_gold[found.ids])


def _count_in_gold(arrays: ShardArrays, number: int) -> tuple[Ints, Ints]:
    places, ids, _ = load_places(arrays, 1, number)
    return np.unique(ids[arrays.load(number, "gold")[places]], return_counts=True)
