"""Statistics of a data set."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import combinations

from rationalize.data._word_index import index_words
from rationalize.data.dataset import DataSet
from rationalize.files import JsonObject
from rationalize.text.words import WordRule
from rationalize.types import Example

_CACHED = 1024


@dataclass(frozen=True, slots=True)
class SplitStats:
    """Statistics of one split.

    Attributes:
        rows: Number of examples.
        labels: Examples of each label; None counts as `(none)`.
        queries: Examples with a query.
        documents: Different documents, by id where they have one, else by text.
        words_mean: Mean number of words.
        words_median: Median number of words.
        words_max: Most words in one example.
        annotated: Examples whose rationale is known, marked or empty.
        without_gold: Annotated examples with nothing marked.
        gold_fraction: Mean over annotated examples of gold words / words; None if there are none.
        spans_per_row: Mean number of gold spans of annotated examples.
        span_words_mean: Mean number of words in a gold span.
    """

    rows: int
    labels: dict[str, int]
    queries: int
    documents: int
    words_mean: float
    words_median: float
    words_max: int
    annotated: int
    without_gold: int
    gold_fraction: float | None
    spans_per_row: float | None
    span_words_mean: float | None


@dataclass(frozen=True, slots=True)
class DataStats:
    """Statistics of all splits, the definition of a word, and documents that two splits share (`train/test`: 3)."""

    name: str
    words: WordRule
    splits: dict[str, SplitStats]
    shared_documents: dict[str, int]

    def to_dict(self) -> JsonObject:
        """Plain values, ready for JSON."""
        return asdict(self)


def measure_data(data: DataSet) -> DataStats:
    """Measure a data set."""
    splits = {name: measure_split(examples, data.words) for name, examples in data.splits.items()}
    return DataStats(data.name, data.words, splits, count_shared_documents(data.splits))


def measure_split(examples: Sequence[Example], rule: WordRule) -> SplitStats:
    """Measure one split."""
    find_words = lru_cache(maxsize=_CACHED)(lambda text: index_words(text, rule))
    lengths: list[int] = []
    fractions: list[float] = []
    span_lengths: list[int] = []
    for example in examples:
        words = find_words(example.text)
        lengths.append(len(words))
        if example.rationale is not None:
            fractions.append(words.count(example.rationale) / max(1, len(words)))
            span_lengths += [len(words.touching(span.start, span.end)) for span in example.rationale]
    labels = Counter("(none)" if example.label is None else example.label for example in examples)
    return SplitStats(
        rows=len(examples),
        labels=dict(sorted(labels.items())),
        queries=sum(example.query is not None for example in examples),
        documents=len(_collect_document_names(examples)),
        words_mean=_compute_mean(lengths) or 0.0,
        words_median=float(statistics.median(lengths)) if lengths else 0.0,
        words_max=max(lengths, default=0),
        annotated=len(fractions),
        without_gold=sum(example.rationale == () for example in examples),
        gold_fraction=_compute_mean(fractions),
        spans_per_row=len(span_lengths) / len(fractions) if fractions else None,
        span_words_mean=_compute_mean(span_lengths),
    )


def count_shared_documents(splits: dict[str, tuple[Example, ...]]) -> dict[str, int]:
    """Count the documents that each pair of splits shares, compared by text."""
    texts = {name: collect_document_texts(examples) for name, examples in splits.items()}
    return {f"{one}/{other}": len(texts[one] & texts[other]) for one, other in combinations(texts, 2)}


def collect_document_texts(examples: Sequence[Example]) -> set[str]:
    """Collect the distinct documents in the examples."""
    whole = {example.text for example in examples if len(example.documents) < 2}
    parts = (example for example in examples if len(example.documents) >= 2)
    return whole | {example.text[doc.start : doc.end] for example in parts for doc in example.documents}


def _collect_document_names(examples: Sequence[Example]) -> set[tuple[str, str]]:
    named = {("id", document.id) for example in examples for document in example.documents}
    return named | {("text", example.text) for example in examples if not example.documents}


def _compute_mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None
