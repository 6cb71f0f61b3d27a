"""When a phrase is a suspected shortcut: it goes with a label, word for word, and people do not mark it."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Self

import numpy as np
from pydantic import Field, model_validator

from rationalize.config import Share, Strict
from rationalize.shortcuts.association import Association, associate
from rationalize.shortcuts.candidates import Candidates
from rationalize.shortcuts.phrases import Bools, Ints

Count = Annotated[int, Field(ge=1)]


class PhraseRules(Strict):
    """When a phrase is suspected."""

    min_words: Annotated[int, Field(ge=2)] = 3
    """Shortest phrase."""
    max_words: Annotated[int, Field(ge=2, le=20)] = 8
    """Longest phrase to test; fixed words around it are found too."""
    min_documents: Annotated[int, Field(ge=2)] = 10
    """Phrases in fewer documents are not tested."""
    significance: Share = 0.05
    """Allowed chance of even one false association among all phrases, among all words, and among all columns (Holm)."""
    min_difference: Share = 0.1
    """An associated label is this much more frequent with the phrase than without it, as a share of documents …"""
    min_lift: Annotated[float, Field(ge=1)] = 2.0
    """… or this many times as frequent."""
    min_cohesion: Share = 0.3
    """A less fixed phrase counts as free wording, so as evidence."""
    max_gold: Share = 0.5
    """A phrase counts as evidence if more than this share of its annotated occurrences touches gold rationales."""

    @model_validator(mode="after")
    def _lengths_in_order(self) -> Self:
        if self.min_words > self.max_words:
            raise ValueError(f"min_words is {self.min_words}, expected at most max_words, {self.max_words}")
        return self


def find_associations(candidates: Candidates, labels: Ints) -> Association:
    """Find the label that each candidate correlates with, given the index of each document's label."""
    return associate(candidates.outside, np.bincount(labels), candidates.anywhere)


def retest(documents: Ints, in_gold: Ints, labels: Ints, tests: int) -> Association:
    """Test one phrase that is in these documents, and in others only inside gold.

    The p-value is corrected for the number of tests (Bonferroni).
    """
    totals = np.bincount(labels)
    outside, only_in_gold = (
        np.bincount(labels[each], minlength=len(totals))[None]
        for each in (documents, np.setdiff1d(in_gold, documents))
    )
    found = associate(outside, totals, outside + only_in_gold)
    return replace(found, adjusted=np.minimum(found.p_values * tests, 1.0))


def count_tests(candidates: Candidates, labels: Ints) -> int:
    """Count the tests of an audit: each label against the rest, which is one test for two labels."""
    n_labels = int(labels.max()) + 1
    return len(candidates) * (1 if n_labels == 2 else n_labels)


def is_associated(found: Association, config: PhraseRules) -> Bools:
    """Return which phrases are significant after correction, and strong enough to matter."""
    strong = (found.difference >= config.min_difference) | (found.lift >= config.min_lift)
    chosen: Bools = (found.adjusted < config.significance) & strong & (found.difference > 0)
    return chosen


def is_fixed(candidates: Candidates, config: PhraseRules) -> Bools:
    """Return which phrases are repeated word for word, and not marked as evidence by people."""
    chosen: Bools = (candidates.cohesion >= config.min_cohesion) & (
        candidates.gold_share() <= config.max_gold
    )
    return chosen
