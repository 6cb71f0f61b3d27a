"""Split and sample data sets and choose gold rationales: stratified, and decided by a seed alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from rationalize.data._dealing import PARTS, TEST_SHARE, Label, apportion
from rationalize.data._text_keys import assign_parts, read_keys
from rationalize.data.dataset import KNOWN_SPLITS, DataSet
from rationalize.data.held_examples import select_examples
from rationalize.errors import ConfigError
from rationalize.seeding import derive_seed
from rationalize.types import Example

SPARE = 10_000
"""Ids that wait, beyond twice the wanted number, before those that are out are dropped."""


def make_splits(
    examples: Sequence[Example], *, dev: float | None = None, test: float = TEST_SHARE, seed: int = 0
) -> dict[str, Sequence[Example]]:
    """Train, dev and test of examples that have no splits; a share of 0 leaves a part out, None is the usual one.

    Labels are represented as in the whole, and every label keeps an example to train on. Examples of the same text
    (see `fold_text`), be it under different queries, are in one part. Which part a text is in depends on the seed, the
    text and the others of its label, not on the order.
    """
    shares = {"test": test} if dev is None else {"dev": dev, "test": test}
    parts = assign_parts(examples, read_keys(examples, seed), seed=seed, **shares)
    chosen = {name: (parts == number).nonzero()[0] for number, name in enumerate(PARTS)}
    return {
        name: select_examples(examples, places.tolist()) for name, places in chosen.items() if len(places)
    }


def is_lone(splits: Collection[str]) -> bool:
    """Return whether the only split is not called train, dev, test or ood: nobody has split the data."""
    return len(splits) == 1 and not KNOWN_SPLITS & set(splits)


def split_lone(data: DataSet) -> DataSet:
    """Split a data set of one split into train, dev and test, always the same way."""
    parts = make_splits(next(iter(data.splits.values())))
    sizes = {f"examples put into {name}, as there was one split": len(part) for name, part in parts.items()}
    return replace(data, splits=parts, notes={**data.notes, **sizes})


def choose_gold(examples: Sequence[Example], share: float = 0.25, seed: int = 0) -> tuple[str, ...]:
    """Choose the examples that keep their gold rationale; return their ids, sorted.

    The share is of all examples (the paper's 25 % of the data), but only annotated examples can be chosen: an empty
    rationale is gold, too, since somebody looked and found nothing to mark. Labels are represented as in the whole;
    the order of the examples does not matter.
    """
    if not 0 <= share <= 1:
        raise ConfigError(f"gold share: saw {share}, expected a number from 0 to 1 (0.25 keeps a quarter).")
    annotated = Counter(example.label for example in examples if example.rationale is not None)
    wanted = apportion(round(share * len(examples)), _count_labels(examples), annotated)
    eligible = (example for example in examples if example.rationale is not None)
    return tuple(sorted(_choose(eligible, wanted, seed, "gold")))


def limit(examples: Sequence[Example], n: int, seed: int = 0) -> Sequence[Example]:
    """At most `n` examples in their order, labels represented as in the whole."""
    if n < 0:
        raise ConfigError(f"limit: saw {n}, expected 0 or more examples.")
    counts = _count_labels(examples)
    ids = _choose(examples, apportion(n, counts, counts), seed, "limit")
    return select_examples(examples, [place for place, each in enumerate(examples) if each.id in ids])


def _count_labels(examples: Iterable[Example]) -> Counter[Label]:
    return Counter(example.label for example in examples)


def _choose(examples: Iterable[Example], wanted: Mapping[Label, int], seed: int, purpose: str) -> set[str]:
    """For each label the ids that come first in a random order given by the seed and the id."""
    drawn: dict[Label, list[tuple[int, str]]] = defaultdict(list)
    for example in examples:
        own, most = drawn[example.label], wanted[example.label]
        own.append((derive_seed(seed, purpose, example.id), example.id))
        if len(own) > 2 * most + SPARE:  # or all ids would be in memory
            own[:] = sorted(own)[:most]
    return {id for label, own in drawn.items() for _, id in sorted(own)[: wanted[label]]}
