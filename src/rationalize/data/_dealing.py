"""Deal groups of examples out to parts: shares, labels represented as in the whole, and what makes texts the same."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from rationalize.errors import ConfigError

Label = str | None
PARTS = ("train", "dev", "test")
_ADDRESS = re.compile(r"https?://\S+|www\.\S+|@\w+")
_WORD = re.compile(r"\w+")
TEST_SHARE = 0.1
DEV_SHARES = (0.1, 0.2)
"""Smallest and largest share that goes to dev unless another is wanted."""
ENOUGH_DEV = 300
"""Dev examples that place a task F1 of 80 within ± 4.5 points."""
MOST_DEV = 10_000
"""Dev examples of many, which place it within ± 0.8 points: more would only be read again after every epoch."""


def choose_dev_share(n: int) -> float:
    """Return the share of n examples that dev gets: a tenth; of few up to a fifth, to have 300; of many 10,000."""
    usual = max(DEV_SHARES[0], min(DEV_SHARES[1], ENOUGH_DEV / max(1, n)))
    return min(usual, MOST_DEV / max(1, n))


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
    for_test = apportion(round(test * n), counts, free)
    for_dev = apportion(round(dev * n), counts, free - for_test)
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


def fold_text(text: str) -> str:
    """Reduce a text to what it says whoever posted it: its words without case, marks, web addresses and @names.

    Copies of a post differ in these, and a model that has learned one knows the other.
    """
    return " ".join(_WORD.findall(_ADDRESS.sub(" ", text.casefold()))) or text


def apportion(total: int, weights: Counter[Label], most: Counter[Label]) -> Counter[Label]:
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
