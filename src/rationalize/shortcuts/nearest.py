"""Find runs of words that are near a discovered phrase in meaning, to the model that discovered it.

The vector of a run is the mean of its words' vectors; that of a phrase, the mean over the runs where it was
discovered. A run of as many words is near a phrase if it is no farther from it (L2) than nearly all discovered runs
are from their own phrase: the 95th percentile of those distances is the radius.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rationalize.inference.retrieval import VectorStore
from rationalize.inference.vectors import Represented
from rationalize.shortcuts.propagate import Phrase, PhraseBook, list_phrases
from rationalize.types import Example

Floats = NDArray[np.float32]

WITHIN = 95  # percent of discovered runs; the farthest few are chance, and would let everything in


@dataclass(frozen=True)
class Neighborhood:
    """Vectors of phrases (phrases, d) by number of words, and the radius around them."""

    centers: dict[int, Floats]
    radius: float

    def mark(self, vectors: Represented, taken: Sequence[bool]) -> list[bool]:
        """Add the words of near runs to `taken`, the nearest first; a run never covers a taken word."""
        mask = list(taken)
        for _, length, start in sorted(self._find_near(vectors)):
            if not any(mask[start : start + length]):
                mask[start : start + length] = [True] * length
        return mask

    def _find_near(self, vectors: Represented) -> Iterator[tuple[float, int, int]]:
        """Yield near runs as (squared distance, words, first word)."""
        for length, centers in self.centers.items():
            starts, means = _average_runs(vectors, length)
            distances, _ = VectorStore(centers).nearest(means)
            near = np.flatnonzero(distances[:, 0] <= self.radius**2)
            yield from ((float(distances[index, 0]), length, int(starts[index])) for index in near)


def build_neighborhood(
    gold: Sequence[Example], vectors: Sequence[Represented], book: PhraseBook
) -> Neighborhood:
    """Build the neighborhood of the book's phrases from where they were discovered.

    A phrase that was discovered once has no spread and does not count for the radius; without any spread, it is 0.
    """
    found: dict[Phrase, list[Floats]] = defaultdict(list)
    for example, own in zip(gold, vectors, strict=True):
        for phrase, place in list_phrases(example, book.rule):
            if own.read[place.start : place.stop].all():
                found[phrase].append(own.words[place.start : place.stop].mean(0))
    centers, distances = defaultdict(list), list[float]()
    for phrase in book.phrases:
        if phrase in found:
            runs = np.stack(found[phrase])
            center = runs.mean(0)
            centers[len(phrase)].append(center)
            distances += np.linalg.norm(runs - center, axis=1).tolist() if len(runs) > 1 else []
    return Neighborhood(
        {length: np.stack(rows).astype(np.float32) for length, rows in sorted(centers.items())},
        float(np.percentile(distances, WITHIN)) if distances else 0.0,
    )


def _average_runs(vectors: Represented, length: int) -> tuple[NDArray[np.int64], Floats]:
    """Return first words and mean vectors of all completely read runs of a length."""
    if len(vectors.words) < length:
        return np.zeros(0, dtype=np.int64), np.zeros((0, vectors.words.shape[1]), dtype=np.float32)
    windows = np.lib.stride_tricks.sliding_window_view
    starts = np.flatnonzero(windows(vectors.read, length).all(-1))
    return starts, np.ascontiguousarray(windows(vectors.words, length, axis=0)[starts].mean(-1), np.float32)
