"""How predictions change when suspected phrases are replaced, compared with replacing as many other words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from heapq import nsmallest
from typing import TYPE_CHECKING

import numpy as np

from rationalize.audit.audit_config import AuditConfig
from rationalize.audit.audit_result import Effect
from rationalize.augment.random import augment_random, collect_words
from rationalize.seeding import derive_seed
from rationalize.shortcuts.phrases import Bools, Floats, Ints
from rationalize.text.words import WordRule, find_words_in, word_spans
from rationalize.types import Example, Span

if TYPE_CHECKING:
    from rationalize.inference.engine import Engine
    from rationalize.inference.vectors import Represented

Predict = Callable[[Sequence[Example], Ints], Floats]
"""Returns label probabilities for (versions of documents, indexes of the original documents)."""

SUSPECTED, OTHERS = "suspected phrases", "as many other words"


def sample_documents(ids: Iterable[tuple[int, str]], config: AuditConfig) -> Ints:
    """Sample documents, given by index and id; return their indexes."""
    keyed = ((derive_seed(config.seed, "audit sample", id), index) for index, id in ids)
    return np.array(sorted(index for _, index in nsmallest(config.sample, keyed)), dtype=np.int64)


def measure_effects(
    chosen: Sequence[Example],
    sample: Ints,
    predict: Predict,
    config: AuditConfig,
    engine: Engine | None,
    rule: WordRule,
) -> tuple[list[Effect], Bools]:
    """Replace the sampled examples' shortcuts at random and, with an engine, by words near in meaning.

    Args:
        chosen: The sampled examples, with shortcuts.
        sample: The indexes of their documents.
        predict: What predicts their labels.
        config: The settings.
        engine: What finds words near in meaning; None: they are not replaced by such.
        rule: The definition of a word.

    Returns:
        The effects, and for each sampled example whether random replacement changed its predicted label.
    """
    elsewhere = _place_elsewhere(chosen, config.seed, rule)
    bag = collect_words(chosen, rule)
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
    effects = [
        _measure_effect(name, old, new, before, after[name], rule) for name, (old, new) in versions.items()
    ]
    first = after[f"{SUSPECTED}, by random words"]
    return effects, before.argmax(1) != first.argmax(1)


def _place_elsewhere(examples: Sequence[Example], seed: int, rule: WordRule) -> list[Example]:
    """Replace the examples' shortcuts by random spans of equal lengths, outside gold and suspected phrases."""
    from rationalize.shortcuts.finding import Discovered, random_shortcuts

    taken = [_guard_phrases(example) for example in examples]
    found = [Discovered(example, example.shortcuts or (), "") for example in taken]
    moved = random_shortcuts(found, seed, rule)
    return [replace(example, shortcuts=each.shortcuts) for example, each in zip(examples, moved, strict=True)]


def _guard_phrases(example: Example) -> Example:
    """Add the example's suspected phrases to its rationale, so that they are not touched."""
    return replace(example, rationale=(*(example.rationale or ()), *(example.shortcuts or ())))


def _replace_by_near(
    old: Sequence[Example], chosen: Sequence[Example], vectors: Sequence[Represented], rule: WordRule
) -> list[Example]:
    """Replace by words of the nearest text, but none of its suspected phrases."""
    from rationalize.augment.semantic import augment_semantic, find_neighbors

    near = find_neighbors(np.stack([each.whole for each in vectors]), [example.id for example in chosen])
    return [
        augment_semantic([example, _guard_phrases(chosen[other])], [vectors[own], vectors[other]], rule)[0]
        for own, (example, other) in enumerate(zip(old, near, strict=True))
    ]


def _measure_effect(
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
        changed=_measure_change(old, new, rule),
        flipped=float((after.argmax(1) != predicted).mean()),
        drop=float((before[rows, predicted] - after[rows, predicted]).mean()),
    )


def _measure_change(old: Sequence[Example], new: Sequence[Example], rule: WordRule) -> float:
    """Return the share of shortcut words that changed."""
    pairs = [
        (left, right)
        for was, now in zip(old, new, strict=True)
        for left, right in zip(_list_shortcut_words(was, rule), _list_shortcut_words(now, rule))
    ]
    return sum(left.lower() != right.lower() for left, right in pairs) / max(len(pairs), 1)


def _list_shortcut_words(example: Example, rule: WordRule) -> list[str]:
    words = word_spans(example.text, rule)
    indexes = [index for span in example.shortcuts or () for index in find_words_in(words, span)]
    return [example.text[words[index].start : words[index].end] for index in indexes]


def make_predict(engine: Engine) -> Predict:
    """Make a predict function from a trained model."""

    def predict(examples: Sequence[Example], documents: Ints) -> Floats:
        explained = [item.explanation for item in engine.explain(examples)]
        return np.array([[each.probabilities[label] for label in engine.labels] for each in explained])

    return predict


def make_selection_test(engine: Engine, examples: Sequence[Example]) -> Callable[[int, Span], bool]:
    """Make a function that checks whether the model selects at least half of a span of the i-th example."""
    explained = [item.explanation for item in engine.explain(examples)]

    def selected(index: int, span: Span) -> bool:
        words = find_words_in(explained[index].words, span)
        return 2 * sum(explained[index].selected[word] for word in words) >= len(words)

    return selected


def load_packaged_engine(words: WordRule, device: str = "auto") -> Engine:
    """Load the packaged encoder, inside an untrained Un-RAT of which nothing else is used."""
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
