"""What happens to predictions when suspected phrases are replaced, beside replacing as much of anything else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rationalize.audit.audit_result import Effect
from rationalize.audit.phrases import Bools, Floats, Ints
from rationalize.audit.rules import AuditConfig
from rationalize.augment.random import augment_random, bag_of_words
from rationalize.seeding import derive_seed
from rationalize.text.words import WordRule, word_spans, words_in
from rationalize.types import Example, Span

if TYPE_CHECKING:
    from rationalize.inference.engine import Engine
    from rationalize.inference.vectors import Represented

Predict = Callable[[Sequence[Example], Ints], Floats]
"""Probabilities of the labels for versions of documents, and which documents they are versions of."""

SUSPECTED, OTHERS = "suspected phrases", "as many other words"


def sample_of(examples: Sequence[Example], config: AuditConfig) -> Ints:
    """Indexes of some examples that have shortcuts."""
    having = [index for index, example in enumerate(examples) if example.shortcuts]
    having.sort(key=lambda index: derive_seed(config.seed, "audit sample", examples[index].id))
    return np.array(sorted(having[: config.sample]), dtype=np.int64)


def effects_of(
    examples: Sequence[Example],
    sample: Ints,
    predict: Predict,
    config: AuditConfig,
    engine: Engine | None,
    rule: WordRule,
) -> tuple[list[Effect], Bools]:
    """Replace the shortcuts of the sampled examples at random and, with an engine, by words near in meaning.

    Returns:
        The effects, and for each sampled example whether random replacement changed its predicted label.
    """
    chosen = [examples[index] for index in sample]
    elsewhere = _place_elsewhere(chosen, config.seed, rule)
    bag = bag_of_words(chosen, rule)
    versions = {
        f"{what}, by random words": (old, [augment_random(each, bag, config.seed, rule) for each in old])
        for what, old in ((SUSPECTED, chosen), (OTHERS, elsewhere))
    }
    if engine is not None:
        from rationalize.inference.vectors import represent

        vectors = represent(engine, chosen)
        for what, old in ((SUSPECTED, chosen), (OTHERS, elsewhere)):
            versions[f"{what}, by near words"] = (
                old,
                _replace_by_near(old, chosen, vectors, engine.text.words),
            )
    before = predict(chosen, sample)
    after = {name: predict(new, sample) for name, (_, new) in versions.items()}
    effects = [_effect(name, old, new, before, after[name], rule) for name, (old, new) in versions.items()]
    first = after[f"{SUSPECTED}, by random words"]
    return effects, before.argmax(1) != first.argmax(1)


def _place_elsewhere(examples: Sequence[Example], seed: int, rule: WordRule) -> list[Example]:
    """The examples with shortcuts of the same number and lengths, away from gold and from the suspected ones."""
    from rationalize.shortcuts.finding import Discovered, random_shortcuts

    taken = [_guard_phrases(example) for example in examples]
    found = [Discovered(example, example.shortcuts or (), "") for example in taken]
    moved = random_shortcuts(found, seed, rule)
    return [replace(example, shortcuts=each.shortcuts) for example, each in zip(examples, moved, strict=True)]


def _guard_phrases(example: Example) -> Example:
    """The example with its suspected phrases among what may not be touched."""
    return replace(example, rationale=(*(example.rationale or ()), *(example.shortcuts or ())))


def _replace_by_near(
    old: Sequence[Example], chosen: Sequence[Example], vectors: Sequence[Represented], rule: WordRule
) -> list[Example]:
    """Semantic replacement by the nearest text; its own suspected phrases give no words."""
    from rationalize.augment.semantic import augment_semantic, neighbors

    near = neighbors(np.stack([each.whole for each in vectors]), [example.id for example in chosen])
    return [
        augment_semantic([example, _guard_phrases(chosen[other])], [vectors[own], vectors[other]], rule)[0]
        for own, (example, other) in enumerate(zip(old, near, strict=True))
    ]


def _effect(
    name: str,
    old: Sequence[Example],
    new: Sequence[Example],
    before: Floats,
    after: Floats,
    rule: WordRule,
) -> Effect:
    predicted = before.argmax(1)
    rows = np.arange(len(old))
    return Effect(
        replaced=name,
        documents=len(old),
        changed=_changed_share(old, new, rule),
        flipped=float((after.argmax(1) != predicted).mean()),
        drop=float((before[rows, predicted] - after[rows, predicted]).mean()),
    )


def _changed_share(old: Sequence[Example], new: Sequence[Example], rule: WordRule) -> float:
    """Share of the words in shortcuts that are others now."""
    pairs = [
        (left, right)
        for was, now in zip(old, new, strict=True)
        for left, right in zip(_shortcut_words(was, rule), _shortcut_words(now, rule))
    ]
    return sum(left.lower() != right.lower() for left, right in pairs) / max(len(pairs), 1)


def _shortcut_words(example: Example, rule: WordRule) -> list[str]:
    words = word_spans(example.text, rule)
    indexes = [index for span in example.shortcuts or () for index in words_in(words, span)]
    return [example.text[words[index].start : words[index].end] for index in indexes]


def engine_reader(engine: Engine) -> Predict:
    """A trained model as a reader of documents."""

    def predict(examples: Sequence[Example], documents: Ints) -> Floats:
        explained = [item.explanation for item in engine.explain(examples)]
        return np.array([[each.probabilities[label] for label in engine.labels] for each in explained])

    return predict


def selection_test(engine: Engine, examples: Sequence[Example]) -> Callable[[int, Span], bool]:
    """Whether the model selects at least half of a stretch of the i-th example."""
    explained = [item.explanation for item in engine.explain(examples)]

    def selected(index: int, span: Span) -> bool:
        words = words_in(explained[index].words, span)
        return 2 * sum(explained[index].selected[word] for word in words) >= len(words)

    return selected


def packaged_engine(words: WordRule, device: str = "auto") -> Engine:
    """The packaged encoder, reading words by a rule. It sits in an untrained Un-RAT, of which nothing else is used."""
    from rationalize.config import EncoderConfig
    from rationalize.models.encoder import EncoderFactory
    from rationalize.models.tokenizer import load_tokenizer
    from rationalize.runs.model_folder import Model, ModelConfig, build_method

    encoder = EncoderConfig(max_tokens=256)
    tokenizer = load_tokenizer(encoder.name)
    config = ModelConfig(
        method="un_rat", options={}, labels=["0", "1"], encoder=encoder, use_query=False, words=words
    )
    method = build_method(config, EncoderFactory(encoder, tokenizer))
    return Model(config, method, tokenizer).to(device).engine()
