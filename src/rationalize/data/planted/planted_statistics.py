"""Statistics of a planted corpus, measured on its examples."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from rationalize.data.planted._grammar import SLOT, load_rules
from rationalize.data.planted.corpus import LABELS, WORDS
from rationalize.text.words import WordRule, word_mask, word_spans
from rationalize.types import Example


@dataclass(frozen=True, slots=True)
class PlantedStats:
    """Statistics of one split.

    Attributes:
        documents: Number of documents.
        labels: Documents of each label.
        words: Mean number of words of a document.
        gold_share: Gold words / words.
        shortcut_share: Words of shortcut phrases / words.
        correlation: Share of documents whose shortcut agrees with the label.
    """

    documents: int
    labels: dict[str, int]
    words: float
    gold_share: float
    shortcut_share: float
    correlation: float


def summarize(corpus: Mapping[str, Sequence[Example]]) -> dict[str, PlantedStats]:
    """Measure every split."""
    return {split: measure_split(examples, WORDS, _agrees) for split, examples in corpus.items()}


def find_shortcut_side(phrase: str) -> str:
    """Return the label that a shortcut phrase goes with."""
    return next(label for label in LABELS if _compile_fates(label).fullmatch(phrase))


def measure_split(
    examples: Sequence[Example], rule: WordRule, agrees: Callable[[Example], bool]
) -> PlantedStats:
    """Measure one split; `agrees` decides whether an example's shortcuts are those of its label."""
    words = gold = shortcut = 0
    for example in examples:
        spans = word_spans(example.text, rule)
        words += len(spans)
        gold += sum(word_mask(spans, example.rationale or ()))
        shortcut += sum(word_mask(spans, example.shortcuts or ()))
    return PlantedStats(
        documents=len(examples),
        labels=dict(sorted(Counter(str(example.label) for example in examples).items())),
        words=words / len(examples),
        gold_share=gold / words,
        shortcut_share=shortcut / words,
        correlation=sum(map(agrees, examples)) / len(examples),
    )


def _agrees(example: Example) -> bool:
    phrases = [example.text[span.start : span.end] for span in example.shortcuts or ()]
    return all(find_shortcut_side(phrase) == example.label for phrase in phrases)


@cache
def _compile_fates(label: str) -> re.Pattern[str]:
    return re.compile("|".join(SLOT.sub(r"[a-z ]+", phrase) for phrase in load_rules()[f"fate.{label}"]))
