"""Single words that correlate with a label: identity terms are the shortcut of data on abuse."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from rationalize.audit._identity_terms import IDENTITY_TERMS
from rationalize.audit.audit_config import AuditConfig
from rationalize.audit.audit_findings import LeaningWord
from rationalize.shortcuts.candidates import Candidates, count_occurrences, find_candidates
from rationalize.shortcuts.merging import Place
from rationalize.shortcuts.phrase_rules import find_associations, is_associated, is_fixed
from rationalize.shortcuts.phrases import Grams, Ints, Texts


@dataclass(frozen=True)
class WordSearch:
    """The words that correlate with a label, how many more there are, and how many were tested."""

    words: tuple[LeaningWord, ...] = ()
    more: int = 0
    tested: int = 0


def search_words(
    texts: Texts,
    grams: dict[int, Grams],
    phrases: Iterable[Place],
    labels: Ints,
    names: Sequence[str],
    config: AuditConfig,
) -> WordSearch:
    """Search for words that correlate with a label outside gold and outside the suspected phrases."""
    candidates = _find_words(texts, grams, phrases, config)
    if not len(candidates):
        return WordSearch()
    found = find_associations(candidates, labels)
    chosen = np.flatnonzero(is_associated(found, config) & is_fixed(candidates, config))
    words = []
    for index in chosen:
        word = texts.spell(int(candidates.firsts[index]), 1)
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


def _find_words(
    texts: Texts, grams: dict[int, Grams], phrases: Iterable[Place], config: AuditConfig
) -> Candidates:
    """Find the words to test; a suspected phrase is put aside as gold is, so its words are not found once more."""
    covered = texts.gold.copy()
    for place in phrases:
        covered[place.position : place.position + place.length] = True
    found = find_candidates(replace(texts, gold=covered), grams, 1, 1, config.min_documents)
    return replace(found, in_gold=count_occurrences(grams[1], texts.gold)[found.ids])
