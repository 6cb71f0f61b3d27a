"""Audit a data set: find what reveals the label without being evidence: columns, fixed phrases, single words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from rationalize.audit._bag_probe import (
    WordReader,
    assign_folds,
    choose_probe,
    has_enough_labels,
    measure_accuracy,
)
from rationalize.audit._columns import search_columns
from rationalize.audit._gathering import Gathered, gather
from rationalize.audit._replacement import (
    Predict,
    load_packaged_engine,
    make_predict,
    make_selection_test,
    measure_effects,
    sample_documents,
)
from rationalize.audit._search import Search, Suspect, search
from rationalize.audit._shard_facts import load_fold_seeds, load_ids, note_facts
from rationalize.audit._spans_by_id import SpansById
from rationalize.audit.audit_config import AuditConfig
from rationalize.audit.audit_result import Audit, Effect, Phrase
from rationalize.errors import DataError
from rationalize.shortcuts.merging import FoundSpans
from rationalize.shortcuts.phrases import Ints
from rationalize.shortcuts.shard_arrays import call_crew
from rationalize.shortcuts.word_corpus import WordCorpus, load_shard, read_corpus
from rationalize.text.words import PLAIN, WordRule
from rationalize.types import Example

if TYPE_CHECKING:
    from rationalize.inference.engine import Engine

WORDS = "logistic regression on all words and pairs of words, held-out folds"


def audit(
    examples: Iterable[Example],
    config: AuditConfig | None = None,
    *,
    engine: Engine | None = None,
    name: str = "",
    words: WordRule = PLAIN,
) -> Audit:
    """Look for shortcuts in labeled texts.

    Args:
        examples: Labeled examples; gold rationales are used if present. They are read once, and beyond
            `memory_documents` kept on disk meanwhile, with the same findings.
        config: The settings.
        engine: A trained rationalizer, to see what it selects and how replacements change its predictions.
        name: A name for the data.
        words: The data set's definition of a word.

    Raises:
        DataError: If fewer than two labels occur.
    """
    config = config or AuditConfig()
    with TemporaryDirectory(prefix="rationalize-") as folder:
        given = gather(examples, name, config.memory_documents, Path(folder))
        with call_crew(config.workers if given.arrays.folder else 1) as crew:
            corpus = read_corpus(given.documents, given.labels, words, given.arrays, crew)
            return _audit(corpus, given, config, engine, name, words)


def _audit(
    corpus: WordCorpus,
    given: Gathered,
    config: AuditConfig,
    engine: Engine | None,
    name: str,
    words: WordRule,
) -> Audit:
    labels, notes = given.labels, list(given.notes)
    note_facts(corpus, config.seed)
    found = search(corpus, labels, given.names, config)
    seeds = load_fold_seeds(corpus)
    folds, probe = assign_folds(seeds, labels, config.folds), choose_probe(seeds, config.probe_documents)
    reader = None
    if has_enough_labels(labels[probe], folds[probe]):
        reader = WordReader(_list_words(corpus, probe), probe, labels, folds, words)
        if len(probe) < len(labels):
            notes.append(f"The label was predicted on a sample of {len(probe)} documents.")
    else:
        notes.append(f"Too few documents for {config.folds} folds: the label was not predicted from words.")
    if engine is not None:
        notes.append("If the model was trained on these documents, its predictions are not held out.")
    spans = found.phrases.collect_spans()
    touched = np.unique(spans.documents)
    suspected, effects = _try_out(found, corpus, spans, reader, config, engine, words)
    return Audit(
        name=name,
        documents=len(labels),
        labels={label: int(count) for label, count in zip(given.names, np.bincount(labels), strict=True)},
        annotated=sum(int(corpus.arrays.load(number, "annotated").sum()) for number in range(corpus.shards)),
        tested=len(found.phrases.candidates),
        touched=len(touched),
        suspected=suspected,
        evidence=found.evidence,
        more_evidence=found.more_evidence,
        columns=search_columns(corpus, labels, folds if reader else None, given.names, config),
        words=found.words.words,
        more_words=found.words.more,
        tested_words=found.words.tested,
        accuracy=measure_accuracy(found.phrases, labels, reader, config),
        predictor=WORDS if engine is None else f"the given model ({engine.method.about.name})",
        effects=tuple(effects),
        notes=tuple(notes),
        config=config,
        spans=SpansById((id for _, id in _list_ids(corpus, touched)), spans),
    )


def turn_queries_into_texts(examples: Iterable[Example], name: str = "") -> Iterator[Example]:
    """Turn the examples' queries into texts.

    Raises:
        DataError: If no example has a query.
    """
    read = found = 0
    for example in examples:
        read += 1
        if example.query is not None:
            found += 1
            yield Example(example.id, example.query, example.label, metadata=example.metadata)
    if not found:
        raise DataError(
            f"{name or 'audit'}: saw no query in {read} examples, expected some. Audit the texts instead."
        )


def _list_words(corpus: WordCorpus, rows: Ints) -> list[list[str]]:
    """List the words of some documents."""
    found: list[list[str]] = []
    for number in range(corpus.shards):
        first, last = corpus.documents.bounds[number : number + 2]
        own = rows[np.searchsorted(rows, first) : np.searchsorted(rows, last)] - first
        if len(own):
            documents = load_shard(corpus.arrays, number).list_by_document(last - first)
            found += [documents[row] for row in own]
    return found


def _list_ids(corpus: WordCorpus, rows: Ints) -> Iterator[tuple[int, str]]:
    """Yield the indexes and ids of some documents."""
    for number in range(corpus.shards):
        first, last = corpus.documents.bounds[number : number + 2]
        own = rows[np.searchsorted(rows, first) : np.searchsorted(rows, last)]
        if len(own):
            ids = load_ids(corpus.arrays, number)
            yield from ((int(row), ids[row - first]) for row in own)


def _try_out(
    found: Search,
    corpus: WordCorpus,
    spans: FoundSpans,
    reader: WordReader | None,
    config: AuditConfig,
    engine: Engine | None,
    rule: WordRule,
) -> tuple[tuple[Phrase, ...], list[Effect]]:
    """Replace the suspected phrases and measure how predictions change."""
    phrases = tuple(suspect.phrase for suspect in found.suspects)
    predict: Predict | None = make_predict(engine) if engine else reader
    sample = sample_documents(_list_ids(corpus, np.unique(spans.documents)), config)
    if predict is None or not len(sample):
        return phrases, []
    own = spans.select(sample)
    marked = [replace(corpus.documents[index], shortcuts=tuple(own[index])) for index in sample.tolist()]
    vectors = (engine or load_packaged_engine(rule, config.device)) if config.semantic else None
    effects, flips = measure_effects(marked, sample, predict, config, vectors, rule)
    place = {int(document): index for index, document in enumerate(sample)}
    chosen = make_selection_test(engine, marked) if engine else None

    def tried(suspect: Suspect) -> Phrase:
        there = {place[document]: each for document, each in suspect.spans.select(sample).items()}
        choices = [chosen(index, span) for index, each in there.items() for span in each] if chosen else []
        return replace(
            suspect.phrase,
            flipped=_mean([bool(flips[index]) for index in there]),
            selected=_mean(choices),
        )

    return tuple(tried(suspect) for suspect in found.suspects), effects


def _mean(values: Sequence[bool]) -> float | None:
    return sum(values) / len(values) if values else None
