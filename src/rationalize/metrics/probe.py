"""The mask-only probe: does the shape of the mask, without a single word, reveal the label?

A selector whose mask shape reveals the class (nothing for one class, a long run for the other) has smuggled the
answer past its own rationale.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

from rationalize.metrics.counting import mean, ratio
from rationalize.seeding import derive_seed
from rationalize.text.words import find_runs

FOLDS = 5
POSITION_BINS = 10


@dataclass(frozen=True, slots=True)
class Probe:
    """How well a logistic regression guesses a label from mask shapes.

    Attributes:
        accuracy: Cross-validated. None: fewer than two classes have enough examples.
        majority: Accuracy of always guessing the most frequent class.
        p_value: The chance of this accuracy or better by majority guessing (one-sided binomial test).
        n: Examples used: those of classes with at least five.
    """

    accuracy: float | None
    majority: float | None
    p_value: float | None
    n: int


def shape_features(mask: Sequence[bool]) -> list[float]:
    """Describe a mask without its words: empty or not, share, runs, run lengths, positions."""
    lengths = [end - start for start, end in find_runs(mask)]
    places = list(compress(range(len(mask)), mask))
    histogram = Counter(place * POSITION_BINS // len(mask) for place in places)
    return [
        float(not places),
        ratio(len(places), len(mask)) or 0.0,
        len(lengths),
        mean(lengths) or 0.0,
        max(lengths, default=0),
        sum(places) / (len(places) * len(mask)) if places else 0.5,
        *(histogram[place] / max(len(places), 1) for place in range(POSITION_BINS)),
    ]


def mask_probe(masks: Sequence[Sequence[bool]], labels: Sequence[str | None]) -> Probe:
    """Cross-validate a logistic regression from mask shape to label (one mask and label per example).

    Examples without a label and classes with fewer than five examples are left out. Deterministic.
    """
    counts = Counter(label for label in labels if label is not None)
    kept = {label for label, count in counts.items() if count >= FOLDS}
    pairs = [(mask, label) for mask, label in zip(masks, labels) if label in kept]
    if not pairs:
        return Probe(None, None, None, 0)
    majority = max(counts.values()) / len(pairs)
    if len(kept) < 2:
        return Probe(None, majority, None, len(pairs))
    correct = _cross_validate([shape_features(mask) for mask, _ in pairs], [str(label) for _, label in pairs])
    return Probe(correct / len(pairs), majority, _p_value(correct, len(pairs), majority), len(pairs))


def _cross_validate(features: list[list[float]], labels: list[str]) -> int:
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=derive_seed(0, "mask probe") % 2**32)
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    guesses = cross_val_predict(model, features, labels, cv=folds)
    return sum(str(guess) == label for guess, label in zip(guesses, labels))


def _p_value(correct: int, n: int, chance: float) -> float:
    from scipy.stats import binomtest

    return float(binomtest(correct, n, chance, alternative="greater").pvalue)
