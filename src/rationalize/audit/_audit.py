"""Audit a data set: find what reveals the label without being evidence: columns, fixed phrases, single words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rationalize.audit._bag_probe import WordReader, assign_folds, has_enough_labels, measure_accuracy
from rationalize.audit._columns import search_columns
from rationalize.audit._replacement import (
    Predict,
    load_packaged_engine,
    make_predict,
    make_selection_test,
    measure_effects,
    sample_examples,
)
from rationalize.audit._search import Search, Suspect, search
from rationalize.audit.audit_config import AuditConfig
from rationalize.audit.audit_result import Audit, Effect, Phrase
from rationalize.data.dataset import list_labels
from rationalize.errors import DataError
from rationalize.text.words import PLAIN, WordRule
from rationalize.types import Example

if TYPE_CHECKING:
    from rationalize.inference.engine import Engine

WORDS = "logistic regression on all words and pairs of words, held-out folds"


def audit(
    examples: Sequence[Example],
    config: AuditConfig | None = None,
    *,
    engine: Engine | None = None,
    name: str = "",
    words: WordRule = PLAIN,
) -> Audit:
    """Look for shortcuts in labeled texts.

    Args:
        examples: Labeled examples; gold rationales are used if present.
        config: The settings.
        engine: A trained rationalizer, to see what it selects and how replacements change its predictions.
        name: A name for the data.
        words: The data set's definition of a word.

    Raises:
        DataError: If fewer than two labels occur.
    """
    config = config or AuditConfig()
    kept, notes = _keep_readable(examples, name)
    names = list_labels(kept)
    labels = np.array([names.index(str(example.label)) for example in kept])
    found = search(kept, labels, names, config, words)
    spans = found.phrases.collect_spans()
    folds = assign_folds(kept, labels, config)
    reader = None
    if has_enough_labels(labels, folds):
        reader = WordReader(found.phrases.texts.list_by_document(), labels, folds, words)
    else:
        notes.append(f"Too few documents for {config.folds} folds: the label was not predicted from words.")
    if engine is not None:
        notes.append("If the model was trained on these documents, its predictions are not held out.")
    marked = [replace(example, shortcuts=spans.get(index)) for index, example in enumerate(kept)]
    suspected, effects = _try_out(found, marked, reader, config, engine, words)
    return Audit(
        name=name,
        documents=len(kept),
        labels=dict(
            Counter(str(example.label) for example in sorted(kept, key=lambda each: str(each.label)))
        ),
        annotated=sum(example.rationale is not None for example in kept),
        tested=len(found.phrases.candidates),
        touched=len(spans),
        suspected=suspected,
        evidence=found.evidence,
        more_evidence=found.more_evidence,
        columns=search_columns(kept, labels, folds if reader else None, names, config, words),
        words=found.words.words,
        more_words=found.words.more,
        tested_words=found.words.tested,
        accuracy=measure_accuracy(found.phrases.candidates, labels, reader, config),
        predictor=WORDS if engine is None else f"the given model ({engine.method.about.name})",
        effects=tuple(effects),
        notes=tuple(notes),
        config=config,
        spans={kept[index].id: each for index, each in spans.items()},
    )


def turn_queries_into_texts(examples: Sequence[Example], name: str = "") -> tuple[Example, ...]:
    """Turn the examples' queries into texts.

    Raises:
        DataError: If no example has a query.
    """
    found = tuple(
        Example(example.id, example.query, example.label, metadata=example.metadata)
        for example in examples
        if example.query is not None
    )
    if not found:
        raise DataError(
            f"{name or 'audit'}: saw no query in {len(examples)} examples, expected some. Audit the texts instead."
        )
    return found


def _keep_readable(examples: Sequence[Example], name: str) -> tuple[list[Example], list[str]]:
    """Keep the labeled examples, each text once per label; note what was left out."""
    labeled = [example for example in examples if example.label is not None]
    distinct = list({(example.text, example.label): example for example in reversed(labeled)}.values())[::-1]
    names = list_labels(distinct)
    if len(names) < 2:
        raise DataError(
            f"{name or 'audit'}: saw {len(names)} label(s) ({', '.join(names) or 'none'}), expected at least two. "
            "A shortcut separates labels; give a split with several labels."
        )
    left_out = {
        "without a label": len(examples) - len(labeled),
        "that repeat a text with the same label": len(labeled) - len(distinct),
    }
    return distinct, [f"Examples {what} were left out: {count}." for what, count in left_out.items() if count]


def _try_out(
    found: Search,
    marked: Sequence[Example],
    reader: WordReader | None,
    config: AuditConfig,
    engine: Engine | None,
    rule: WordRule,
) -> tuple[tuple[Phrase, ...], list[Effect]]:
    """Replace the suspected phrases and measure how predictions change."""
    phrases = tuple(suspect.phrase for suspect in found.suspects)
    predict: Predict | None = make_predict(engine) if engine else reader
    sample = sample_examples(marked, config)
    if predict is None or not len(sample):
        return phrases, []
    vectors = (engine or load_packaged_engine(rule, config.device)) if config.semantic else None
    effects, flips = measure_effects(marked, sample, predict, config, vectors, rule)
    place = {int(document): index for index, document in enumerate(sample)}
    chosen = make_selection_test(engine, [marked[index] for index in sample]) if engine else None

    def tried(suspect: Suspect) -> Phrase:
        there = {place[document]: spans for document, spans in suspect.spans.items() if document in place}
        choices = [chosen(index, span) for index, spans in there.items() for span in spans] if chosen else []
        return replace(
            suspect.phrase,
            flipped=_mean([bool(flips[index]) for index in there]),
            selected=_mean(choices),
        )

    return tuple(tried(suspect) for suspect in found.suspects), effects


def _mean(values: Sequence[bool]) -> float | None:
    return sum(values) / len(values) if values else None
