"""Which examples keep their gold rationale, and smaller data sets: stratified, and fixed by a seed alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from rationalize.errors import ConfigError
from rationalize.seeding import derive_seed
from rationalize.types import Example

Label = str | None


def gold_subset(examples: Sequence[Example], share: float = 0.25, seed: int = 0) -> tuple[str, ...]:
    """Ids of the examples that keep their gold rationale, sorted.

    The share is of all examples (the paper's 25 % of the data), but only examples with a non-empty rationale
    can be chosen. Labels are represented as in the whole; the order of the examples does not matter.
    """
    if not 0 <= share <= 1:
        raise ConfigError(f"gold share: saw {share}, expected a number from 0 to 1 (0.25 keeps a quarter).")
    eligible = [example for example in examples if example.rationale]
    wanted = _apportion(round(share * len(examples)), _labels(examples), _labels(eligible))
    return tuple(sorted(_chosen(eligible, wanted, seed, "gold")))


def limit(examples: Sequence[Example], n: int, seed: int = 0) -> tuple[Example, ...]:
    """At most `n` examples in their order, labels represented as in the whole."""
    if n < 0:
        raise ConfigError(f"limit: saw {n}, expected 0 or more examples.")
    counts = _labels(examples)
    ids = _chosen(examples, _apportion(n, counts, counts), seed, "limit")
    return tuple(example for example in examples if example.id in ids)


def _labels(examples: Iterable[Example]) -> Counter[Label]:
    return Counter(example.label for example in examples)


def _chosen(examples: Iterable[Example], wanted: Mapping[Label, int], seed: int, purpose: str) -> set[str]:
    """For each label the ids that come first in a random order given by the seed and the id."""
    by_label: dict[Label, list[str]] = defaultdict(list)
    for example in examples:
        by_label[example.label].append(example.id)
    return {
        id
        for label, ids in by_label.items()
        for id in sorted(ids, key=lambda id: (derive_seed(seed, purpose, id), id))[: wanted[label]]
    }


def _apportion(total: int, weights: Counter[Label], most: Counter[Label]) -> Counter[Label]:
    """Share `total` out by weight with the largest-remainder rule, giving no label more than it has."""
    given: Counter[Label] = Counter()
    total = min(total, most.total())
    while given.total() < total:
        left = total - given.total()
        open_labels = sorted((label for label in most if given[label] < most[label]), key=_order)
        weight = sum(weights[label] for label in open_labels)
        parts = {label: left * weights[label] // weight for label in open_labels}
        by_remainder = sorted(open_labels, key=lambda label: -(left * weights[label] % weight))
        for label in by_remainder[: left - sum(parts.values())]:
            parts[label] += 1
        for label in open_labels:
            given[label] += min(parts[label], most[label] - given[label])
    return given


def _order(label: Label) -> tuple[bool, str]:
    return label is not None, label or ""
