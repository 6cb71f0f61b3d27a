"""Trivial selectors, which ignore the text: all, random-α, first-α, last-α. A real selector has to beat them.

Each is a ranking of the words; its mask is the top share of the ranking. So both mask scores and ranking scores
compare with the model's.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from random import Random

from rationalize.errors import ConfigError
from rationalize.seeding import Key, python_random

Ranking = Callable[[int, Random], list[float]]

# Scores of n words; the highest are selected first.
RANKINGS: dict[str, Ranking] = {
    "all": lambda n, _: [1.0] * n,
    "random": lambda n, random: [rank / n for rank in random.sample(range(1, n + 1), n)],
    "first": lambda n, _: [(n - index) / n for index in range(n)],
    "last": lambda n, _: [(index + 1) / n for index in range(n)],
}
SELECTORS = tuple(RANKINGS)


def trivial_scores(selector: str, n_words: int, *, seed: int = 0, key: Sequence[Key] = ()) -> list[float]:
    """Score each word as a trivial selector does.

    Args:
        selector: One of `SELECTORS`.
        n_words: Length of the document.
        seed: Seed of the random selector.
        key: Identifies the document (example id, document id); its draw depends on nothing else.
    """
    if selector not in RANKINGS:
        raise ConfigError(f"Unknown trivial selector {selector!r}; expected one of {', '.join(SELECTORS)}.")
    return RANKINGS[selector](n_words, python_random(seed, "trivial selector", *key))


def trivial_mask(
    selector: str, n_words: int, share: float, *, seed: int = 0, key: Sequence[Key] = ()
) -> tuple[bool, ...]:
    """Select a share of the words as a trivial selector does (`all` selects everything at any share)."""
    scores = trivial_scores(selector, n_words, seed=seed, key=key)
    return top_share(scores, 1.0 if selector == "all" else share)


def top_share(scores: Sequence[float], share: float) -> tuple[bool, ...]:
    """Select the highest-scored share of the words; the earlier word wins a tie."""
    return top_words(scores, n_of_share(len(scores), share))


def top_words(scores: Sequence[float], n: int) -> tuple[bool, ...]:
    """Select the `n` highest-scored words; the earlier word wins a tie."""
    chosen = set(heapq.nlargest(n, range(len(scores)), key=scores.__getitem__))
    return tuple(index in chosen for index in range(len(scores)))


def n_of_share(n_words: int, share: float) -> int:
    """Turn a share into a number of words: rounded half up, at least one unless the share or the text is empty."""
    _check(share)
    return max(1, math.floor(share * n_words + 0.5)) if share and n_words else 0


def at_least_share(n_words: int, share: float) -> int:
    """Return the fewest words that make up at least the share."""
    _check(share)
    return math.ceil(share * n_words - 1e-9)  # 0.01 * 700 is a little more than 7


def _check(share: float) -> None:
    if not 0.0 <= share <= 1.0:
        raise ConfigError(f"share: saw {share}, expected a fraction of the words, from 0 to 1.")
