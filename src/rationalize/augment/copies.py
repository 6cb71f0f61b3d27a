"""One door to augmentation: how many copies, of which kind."""

from __future__ import annotations

from collections.abc import Sequence

from rationalize.augment.random import augment_random, bag_of_words
from rationalize.augment.semantic import augment_semantic
from rationalize.errors import ConfigError
from rationalize.inference.engine import Engine
from rationalize.inference.vectors import represent
from rationalize.seeding import derive_seed
from rationalize.text.words import WordRule
from rationalize.types import Example


def make_copies(
    kind: str,
    gold: Sequence[Example],
    everything: Sequence[Example],
    n: int,
    seed: int,
    rule: WordRule,
    finder: Engine | None = None,
) -> list[Example]:
    """Augmented copies of annotated examples.

    Args:
        kind: random, semantic, or mixed (`n` copies of each).
        gold: Annotated examples with their shortcuts; those without one have nothing to replace and are left out.
        everything: All training examples, the bag that random words are drawn from.
        n: Copies wanted. Semantic copies are at most one per example; random ones go round again.
        seed: Decides which examples and which words.
        rule: What a word is.
        finder: The trained Un-RAT whose encoder gives the vectors (semantic and mixed), of words by the same rule.
    """
    sources = sorted(
        (each for each in gold if each.shortcuts), key=lambda each: derive_seed(seed, "augment", each.id)
    )
    copies: list[Example] = []
    if kind in {"random", "mixed"} and sources:
        bag = bag_of_words(everything, rule)
        copies += [
            augment_random(sources[i % len(sources)], bag, seed, rule, i // len(sources)) for i in range(n)
        ]
    if kind in {"semantic", "mixed"} and sources:
        if finder is None:
            raise ConfigError(f"augmentation {kind!r} needs a trained un_rat to give the word vectors.")
        # Neighbors are looked for among all annotated examples, as in the paper, not only those copied.
        copied = dict(
            zip(
                (each.id for each in gold), augment_semantic(gold, represent(finder, gold), rule), strict=True
            )
        )
        copies += [copied[source.id] for source in sources[:n]]
    return copies
