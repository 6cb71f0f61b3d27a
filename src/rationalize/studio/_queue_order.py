"""In which order texts are annotated, so that the first ones are worth most."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from rationalize.seeding import python_random
from rationalize.studio._decisions import Suggestion
from rationalize.studio.pool import Pool

if TYPE_CHECKING:
    from numpy.typing import NDArray

Ordering = Literal["useful", "random", "disagrees"]
ORDERINGS: tuple[Ordering, ...] = get_args(Ordering)
TITLES: dict[Ordering, str] = {
    "useful": "uncertain first, then diverse",
    "random": "random",
    "disagrees": "disagrees with gold first",
}
FIRST_SHARE = 0.25
"""Share of the texts, the most uncertain ones, that are spread out to be as different as possible."""
MOST_SPREAD = 300
"""Spreading compares every text with every chosen one; beyond this many, the rest follow as they are."""

Suggestions = Mapping[int, Suggestion]


def order_texts(pool: Pool, ordering: Ordering, suggestions: Suggestions, seed: int = 0) -> list[int]:
    """Return all numbers in order.

    useful: the quarter that the model is least sure about, spread out so that texts alike do not follow each other;
        then the others, the least sure first. Without a model, all are only spread out.
    random: as the seed decides.
    disagrees: wrong labels first, then by how little the model's words have in common with gold.
    """
    shuffled = list(range(1, len(pool) + 1))
    python_random(seed, "studio order").shuffle(shuffled)
    if ordering == "random":
        return shuffled
    if ordering == "disagrees":
        return sorted(shuffled, key=lambda number: _agree_with_gold(pool, number, suggestions.get(number)))
    ranked = sorted(shuffled, key=lambda number: -compute_uncertainty(suggestions.get(number)))
    size = max(round(FIRST_SHARE * len(pool)), min(len(pool), 20)) if suggestions else len(pool)
    size = min(size, MOST_SPREAD)
    return [*spread_out(ranked[:size], lambda number: pool[number].text), *ranked[size:]]


def compute_uncertainty(found: Suggestion | None) -> float:
    """Return 0 (sure) to 1 (two classes equally probable), 1 more where full text and rationale disagree."""
    if found is None:
        return 0.0
    first, second, *_ = [*sorted(found.probabilities.values(), reverse=True), 0.0]
    return 1 - (first - second) + found.review


def _agree_with_gold(pool: Pool, number: int, found: Suggestion | None) -> tuple[int, float]:
    """Sort key: 0 for a wrong label, 1 for a right one, 2 where there is nothing to compare; then token F1."""
    example = pool[number]
    if found is None or (example.label is None and example.rationale is None):
        return 2, 0.0
    right = example.label is None or example.label == found.label
    if example.rationale is None:
        return int(right), 1.0
    marked, gold = (pool.mark_words(number, spans) for spans in (found.spans, example.rationale))
    return int(right), compare_words(marked, gold)


def compare_words(first: Sequence[bool], second: Sequence[bool]) -> float:
    """Return the F1 of two choices of words; 1 if both are empty."""
    both = sum(a and b for a, b in zip(first, second, strict=True))
    total = sum(first) + sum(second)
    return 2 * both / total if total else 1.0


def spread_out(numbers: Sequence[int], get_text: Callable[[int], str]) -> list[int]:
    """Order texts so that each is as unlike all before it as can be, beginning with the first."""
    if len(numbers) < 3:
        return list(numbers)
    vectors = _vectorize([get_text(number) for number in numbers])
    near = vectors @ vectors[0]
    order = [0]
    near[0] = np.inf
    while len(order) < len(numbers):
        chosen = int(np.argmin(near))
        order.append(chosen)
        near = np.maximum(near, vectors @ vectors[chosen])
        near[order] = np.inf
    return [numbers[index] for index in order]


def _vectorize(texts: Sequence[str]) -> NDArray[np.float32]:
    """Vectors of length one whose products say how many rare words two texts share."""
    from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer

    counts = HashingVectorizer(n_features=2**12, alternate_sign=False, norm=None).transform(texts)
    found: NDArray[np.float32] = TfidfTransformer().fit_transform(counts).toarray().astype(np.float32)
    return found
