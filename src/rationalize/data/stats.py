"""Statistics of a data set."""

from __future__ import annotations

import statistics
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import combinations

from rationalize.data._digest_set import DigestSet
from rationalize.data._word_index import index_words
from rationalize.data.dataset import ReadableData, SplitPeople
from rationalize.files import JsonObject
from rationalize.text.words import WordRule, count_words
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
    """Statistics of all splits.

    Attributes:
        name: The data set.
        words: Its definition of a word.
        splits: The figures of each split.
        shared_documents: Documents that two splits share (`train/test`: 3).
        people: Who annotated each split, and how far they agree, where several people did.
        notes: How often something unusual was found: cancelled annotations, spans counted in UTF-16 units.
    """

    name: str
    words: WordRule
    splits: dict[str, SplitStats]
    shared_documents: dict[str, int]
    people: dict[str, SplitPeople]
    notes: dict[str, int]

    def to_dict(self) -> JsonObject:
        """Plain values, ready for JSON."""
        return asdict(self)


def measure_data(data: ReadableData) -> DataStats:
    """Measure a data set, reading each example once."""
    meters = {name: _Meter(data.words) for name in data.splits}
    for name, examples in data.splits.items():
        meters[name].read(examples)
    splits = {name: meter.summarize() for name, meter in meters.items()}
    texts = {name: meter.texts for name, meter in meters.items()}
    shared = _count_shared(texts)
    return DataStats(data.name, data.words, splits, shared, dict(data.people), dict(data.notes))


def measure_split(examples: Iterable[Example], rule: WordRule) -> SplitStats:
    """Measure one split."""
    meter = _Meter(rule)
    meter.read(examples)
    return meter.summarize()


class _Meter:
    """Measures examples as they pass; of each, only some numbers and digests of its documents are kept."""

    def __init__(self, rule: WordRule) -> None:
        self._find_words = lru_cache(maxsize=_CACHED)(lambda text: index_words(text, rule))
        count = count_words if rule == "unicode" else lambda text: len(index_words(text, rule))
        self._count_words = lru_cache(maxsize=_CACHED)(count)
        self._labels: Counter[str] = Counter()
        self._lengths, self._span_lengths, self._fractions = array("q"), array("q"), array("d")
        self._queries = self._without_gold = 0
        self._documents = DigestSet()
        self.texts = DigestSet()
        """The distinct documents."""

    def read(self, examples: Iterable[Example]) -> None:
        """Add examples."""
        for example in examples:
            self._add(example)

    def _add(self, example: Example) -> None:
        if example.rationale is None:
            self._lengths.append(self._count_words(example.text))
        else:
            words = self._find_words(example.text)
            self._lengths.append(len(words))
            self._fractions.append(words.count(example.rationale) / max(1, len(words)))
            self._span_lengths.extend(len(words.touching(span.start, span.end)) for span in example.rationale)
        self._labels["(none)" if example.label is None else example.label] += 1
        self._queries += example.query is not None
        self._without_gold += example.rationale == ()
        for name in _name_documents(example):
            self._documents.add(name)
        for text in _list_document_texts(example):
            self.texts.add(text)

    def summarize(self) -> SplitStats:
        """Return the figures."""
        lengths, fractions = self._lengths, self._fractions
        return SplitStats(
            rows=len(lengths),
            labels=dict(sorted(self._labels.items())),
            queries=self._queries,
            documents=len(self._documents),
            words_mean=_compute_mean(lengths) or 0.0,
            words_median=float(statistics.median(lengths)) if lengths else 0.0,
            words_max=max(lengths, default=0),
            annotated=len(fractions),
            without_gold=self._without_gold,
            gold_fraction=_compute_mean(fractions),
            spans_per_row=len(self._span_lengths) / len(fractions) if fractions else None,
            span_words_mean=_compute_mean(self._span_lengths),
        )


def _count_shared(texts: Mapping[str, DigestSet]) -> dict[str, int]:
    """Count the documents that each pair of splits shares, compared by text."""
    pairs = combinations(texts, 2)
    return {f"{one}/{other}": texts[one].count_shared(texts[other]) for one, other in pairs}


def collect_document_texts(examples: Iterable[Example]) -> DigestSet:
    """Collect the distinct documents in the examples."""
    found = DigestSet()
    for example in examples:
        for text in _list_document_texts(example):
            found.add(text)
    return found


def _list_document_texts(example: Example) -> list[str]:
    if len(example.documents) < 2:
        return [example.text]
    return [example.text[document.start : document.end] for document in example.documents]


def _name_documents(example: Example) -> list[str]:
    """Name the documents of an example by id, else by text."""
    return [f"id {document.id}" for document in example.documents] or [f"text {example.text}"]


def _compute_mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None
