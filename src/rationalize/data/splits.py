"""Split and sample data sets and choose gold rationales: stratified, and decided by a seed alone."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from rationalize.data.dataset import KNOWN_SPLITS, DataSet
from rationalize.errors import ConfigError
from rationalize.seeding import derive_seed
from rationalize.types import Example

Label = str | None
PARTS = ("train", "dev", "test")
_ADDRESS = re.compile(r"https?://\S+|www\.\S+|@\w+")
_WORD = re.compile(r"\w+")
TEST_SHARE = 0.1
DEV_SHARES = (0.1, 0.2)
"""Smallest and largest share that goes to dev unless another is wanted."""
ENOUGH_DEV = 300
"""Dev examples that place a task F1 of 80 within ± 4.5 points."""


def choose_dev_share(n: int) -> float:
    """Return the share of n examples that dev gets: a tenth, of few examples up to a fifth, to have 300."""
    return max(DEV_SHARES[0], min(DEV_SHARES[1], ENOUGH_DEV / max(1, n)))


def make_splits(
    examples: Sequence[Example], *, dev: float | None = None, test: float = TEST_SHARE, seed: int = 0
) -> dict[str, tuple[Example, ...]]:
    """Train, dev and test of examples that have no splits; a share of 0 leaves a part out, None is the usual one.

    Labels are represented as in the whole, and every label keeps an example to train on. Examples of the same text
    (see `fold_text`), be it under different queries, are in one part. Which part a text is in depends on the seed, the
    text and the others of its label, not on the order.
    """
    names = _name_groups(examples)
    groups = _group_by_text(examples, names)
    ordered = {
        label: sorted(texts, key=lambda text: (derive_seed(seed, "split", text), text))
        for label, texts in _group_texts_by_label(groups).items()
    }
    sizes = {label: [len(groups[text]) for text in texts] for label, texts in ordered.items()}
    dealt = deal_groups(sizes, dev=dev, test=test)
    part_of = {text: part for label, texts in ordered.items() for text, part in zip(texts, dealt[label])}
    parts = {name: tuple(each for each in examples if part_of[names[each.text]] == name) for name in PARTS}
    return {name: part for name, part in parts.items() if part}


def deal_groups(
    sizes: Mapping[Label, Sequence[int]], *, dev: float | None = None, test: float = TEST_SHARE
) -> dict[Label, list[str]]:
    """Deal groups of examples out to train, dev and test.

    Args:
        sizes: For each label, the number of examples of its groups, in the order in which they are dealt out.
        dev: Share of the examples for dev; None: the usual one.
        test: Share of the examples for test.

    Returns:
        For each label, the part of each group.
    """
    counts: Counter[Label] = Counter({label: sum(own) for label, own in sizes.items()})
    n = counts.total()
    dev = choose_dev_share(n) if dev is None else dev
    for name, share in (("dev", dev), ("test", test), ("dev and test together", dev + test)):
        if not 0 <= share < 1:
            raise ConfigError(
                f"{name}: saw {share:g}, expected a share from 0 to below 1 (0.1 is a tenth).",
                field=("dev", "test"),
            )
    free = Counter({label: sum(own[1:]) for label, own in sizes.items()})  # the first one stays in train
    for_test = _apportion(round(test * n), counts, free)
    for_dev = _apportion(round(dev * n), counts, free - for_test)
    dealt: dict[Label, list[str]] = {}
    for label, own in sizes.items():
        room = {"test": for_test[label], "dev": for_dev[label]}
        dealt[label] = ["train"] * len(own)
        for index, size in enumerate(own[1:], start=1):
            part = next((name for name, left in room.items() if left >= size), None)
            if part is not None:
                room[part] -= size
                dealt[label][index] = part
    return dealt


def is_lone(splits: Collection[str]) -> bool:
    """Return whether the only split is not called train, dev, test or ood: nobody has split the data."""
    return len(splits) == 1 and not KNOWN_SPLITS & set(splits)


def split_lone(data: DataSet) -> DataSet:
    """Split a data set of one split into train, dev and test, always the same way."""
    parts = make_splits(next(iter(data.splits.values())))
    sizes = {f"examples put into {name}, as there was one split": len(part) for name, part in parts.items()}
    return replace(data, splits=parts, notes={**data.notes, **sizes})


def fold_text(text: str) -> str:
    """Reduce a text to what it says whoever posted it: its words without case, marks, web addresses and @names.

    Copies of a post differ in these, and a model that has learned one knows the other.
    """
    return " ".join(_WORD.findall(_ADDRESS.sub(" ", text.casefold()))) or text


def _name_groups(examples: Iterable[Example]) -> dict[str, str]:
    """Name each text by the first, in the alphabet, of those that say the same."""
    alike: dict[str, set[str]] = defaultdict(set)
    for example in examples:
        alike[fold_text(example.text)].add(example.text)
    return {text: min(texts) for texts in alike.values() for text in texts}


def _group_by_text(examples: Iterable[Example], names: Mapping[str, str]) -> dict[str, list[Example]]:
    groups: dict[str, list[Example]] = defaultdict(list)
    for example in examples:
        groups[names[example.text]].append(example)
    return groups


def _group_texts_by_label(groups: Mapping[str, Sequence[Example]]) -> dict[Label, list[str]]:
    """Group the texts by label; one with several labels counts for the first in the alphabet."""
    texts: dict[Label, list[str]] = defaultdict(list)
    for text, group in groups.items():
        texts[min((example.label for example in group), key=rank_label)].append(text)
    return texts


def choose_gold(examples: Sequence[Example], share: float = 0.25, seed: int = 0) -> tuple[str, ...]:
    """Choose the examples that keep their gold rationale; return their ids, sorted.

    The share is of all examples (the paper's 25 % of the data), but only annotated examples can be chosen: an empty
    rationale is gold, too, since somebody looked and found nothing to mark. Labels are represented as in the whole;
    the order of the examples does not matter.
    """
    if not 0 <= share <= 1:
        raise ConfigError(f"gold share: saw {share}, expected a number from 0 to 1 (0.25 keeps a quarter).")
    eligible = [example for example in examples if example.rationale is not None]
    wanted = _apportion(round(share * len(examples)), _count_labels(examples), _count_labels(eligible))
    return tuple(sorted(_choose(eligible, wanted, seed, "gold")))


def limit(examples: Sequence[Example], n: int, seed: int = 0) -> tuple[Example, ...]:
    """At most `n` examples in their order, labels represented as in the whole."""
    if n < 0:
        raise ConfigError(f"limit: saw {n}, expected 0 or more examples.")
    counts = _count_labels(examples)
    ids = _choose(examples, _apportion(n, counts, counts), seed, "limit")
    return tuple(example for example in examples if example.id in ids)


def _count_labels(examples: Iterable[Example]) -> Counter[Label]:
    return Counter(example.label for example in examples)


def _choose(examples: Iterable[Example], wanted: Mapping[Label, int], seed: int, purpose: str) -> set[str]:
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
        open_labels = sorted((label for label in most if given[label] < most[label]), key=rank_label)
        weight = sum(weights[label] for label in open_labels)
        parts = {label: left * weights[label] // weight for label in open_labels}
        by_remainder = sorted(open_labels, key=lambda label: -(left * weights[label] % weight))
        for label in by_remainder[: left - sum(parts.values())]:
            parts[label] += 1
        for label in open_labels:
            given[label] += min(parts[label], most[label] - given[label])
    return given


def rank_label(label: Label) -> tuple[bool, str]:
    """Sort key of labels: none, then by name."""
    return label is not None, label or ""
