"""Faithfulness: how the predicted class's probability changes when words are removed.

Pure functions of probabilities that were measured elsewhere: the measurer chooses how to remove words, and should
report it with the numbers. The class is the one predicted on the full input, right or wrong; nothing is clipped.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rationalize.errors import DataError
from rationalize.metrics.counting import mean

Probabilities = Mapping[str, float]
ScoreRow = dict[str, float | None]

# The shares of the words that ERASER's scorer removes or keeps by default.
BINS = (0.01, 0.05, 0.1, 0.2, 0.5)


@dataclass(frozen=True, slots=True)
class Ablation:
    """Class probabilities of one example, with and without words.

    Attributes:
        full: For the whole input.
        without: For the input without its rationale, if measured.
        only: For the rationale alone, if measured.
        without_top: By share: for the input without that share of top-scored words.
        only_top: By share: for that share of top-scored words alone.
        label: The predicted class; None: the most probable one of `full`.
        flip_share: Tokens to flip / document length: the share of the words to remove, best first, until the
            predicted label changes, if measured.
    """

    full: Probabilities
    without: Probabilities | None = None
    only: Probabilities | None = None
    without_top: Mapping[float, Probabilities] = field(default_factory=dict)
    only_top: Mapping[float, Probabilities] = field(default_factory=dict)
    label: str | None = None
    flip_share: float | None = None

    def __post_init__(self) -> None:
        measured = (self.without, self.only, *self.without_top.values(), *self.only_top.values())
        for probabilities in (self.full, *(each for each in measured if each is not None)):
            _check(probabilities, self.full, self.predicted)

    @property
    def predicted(self) -> str:
        """The class whose probability is compared."""
        if self.label is not None:
            return self.label
        return max(self.full, key=self.full.__getitem__, default="")

    def drop(self, reduced: Probabilities) -> float:
        """Return how much less probable the predicted class is on the reduced input."""
        return self.full[self.predicted] - reduced[self.predicted]


@dataclass(frozen=True, slots=True)
class AOPC:
    """Area over the perturbation curve: the mean of `points`, one mean drop per bin."""

    score: float
    bins: tuple[float, ...]
    points: tuple[float, ...]


def comprehensiveness(ablations: Iterable[Ablation]) -> float | None:
    """Return the mean of p(ŷ|x) − p(ŷ|x without r): higher means that the rationale was needed."""
    return mean(case.drop(case.without) for case in ablations if case.without is not None)


def sufficiency(ablations: Iterable[Ablation]) -> float | None:
    """Return the mean of p(ŷ|x) − p(ŷ|r): lower means that the rationale is enough; may be negative."""
    return mean(case.drop(case.only) for case in ablations if case.only is not None)


def comprehensiveness_aopc(ablations: Sequence[Ablation], bins: Sequence[float] | None = BINS) -> AOPC | None:
    """Average comprehensiveness over shares of removed words; see `aopc`."""
    return aopc([(case, case.without_top) for case in ablations if case.without_top], bins)


def sufficiency_aopc(ablations: Sequence[Ablation], bins: Sequence[float] | None = BINS) -> AOPC | None:
    """Average sufficiency over shares of kept words; see `aopc`."""
    return aopc([(case, case.only_top) for case in ablations if case.only_top], bins)


def aopc(
    cases: Sequence[tuple[Ablation, Mapping[float, Probabilities]]], bins: Sequence[float] | None = BINS
) -> AOPC | None:
    """Compute ERASER's AOPC: the plain mean of the drops over examples and bins; None for no examples.

    ERASER's paper and UNIREX divide by |B| + 1 instead: multiply by |B| / (|B| + 1) to convert. Bins match by
    equality, extra ones are ignored, a missing one is an error. `bins=None`: all measured ones.
    """
    if bins is None:
        bins = sorted({share for _, measured in cases for share in measured})
    if not cases or not bins:
        return None
    points = []
    for share in bins:
        drops = [case.drop(_at(measured, share)) for case, measured in cases]
        points.append(sum(drops) / len(drops))
    return AOPC(sum(points) / len(points), tuple(bins), tuple(points))


def entropy(probabilities: Probabilities) -> float:
    """Return the Shannon entropy in nats; probabilities are normalized first."""
    return -sum(p * math.log(p) for p in _normalize(probabilities).values() if p)


def entropy_difference(full: Probabilities, reduced: Probabilities) -> float:
    """Return H(full) − H(reduced): negative if the model is less sure of the reduced input."""
    return entropy(full) - entropy(reduced)


def kl_divergence(full: Probabilities, reduced: Probabilities) -> float | None:
    """Return KL(reduced ‖ full) in nats; None if infinite (the full input gave a class probability 0)."""
    p, q = _normalize(full), _normalize(reduced)
    if any(q[label] and not p[label] for label in q):
        return None
    return sum(q[label] * math.log(q[label] / p[label]) for label in q if q[label])


def tokens_to_flip(ablations: Iterable[Ablation]) -> float | None:
    """Return the mean share of the words to remove until the predicted label changes."""
    return mean(case.flip_share for case in ablations if case.flip_share is not None)


def faithfulness_row(ablations: Sequence[Ablation], bins: Sequence[float] | None = BINS) -> ScoreRow:
    """Return every faithfulness number by name, over the examples that have it; None if none has.

    `comprehensiveness_kl` and `sufficiency_kl` are None too if any example's divergence is infinite.
    `comprehensiveness@0.05` and the like are the points of the AOPC curve.
    """
    without = [(case.full, case.without) for case in ablations if case.without is not None]
    only = [(case.full, case.only) for case in ablations if case.only is not None]
    return {
        "comprehensiveness": comprehensiveness(ablations),
        "sufficiency": sufficiency(ablations),
        **_curve_row("comprehensiveness", comprehensiveness_aopc(ablations, bins)),
        **_curve_row("sufficiency", sufficiency_aopc(ablations, bins)),
        **_divergence_row("comprehensiveness", without),
        **_divergence_row("sufficiency", only),
        "tokens_to_flip": tokens_to_flip(ablations),
    }


def _curve_row(name: str, curve: AOPC | None) -> ScoreRow:
    if curve is None:
        return {f"{name}_aopc": None}
    points = {f"{name}@{share:g}": point for share, point in zip(curve.bins, curve.points)}
    return {f"{name}_aopc": curve.score, **points}


def _divergence_row(name: str, pairs: Sequence[tuple[Probabilities, Probabilities]]) -> ScoreRow:
    divergences = [kl_divergence(*pair) for pair in pairs]
    finite = [value for value in divergences if value is not None]
    return {
        f"{name}_entropy": mean(entropy_difference(*pair) for pair in pairs),
        f"{name}_kl": mean(finite) if len(finite) == len(divergences) else None,
    }


def _at(measured: Mapping[float, Probabilities], share: float) -> Probabilities:
    if share not in measured:
        raise DataError(
            f"AOPC: no probabilities at bin {share:g}; measured bins: {sorted(measured)}. "
            "Measure every example at every bin, or ask for fewer bins."
        )
    return measured[share]


def _normalize(probabilities: Probabilities) -> dict[str, float]:
    total = sum(probabilities.values())
    return {label: p / total for label, p in probabilities.items()}


def _check(probabilities: Probabilities, full: Probabilities, label: str) -> None:
    if probabilities.keys() != full.keys() or label not in full:
        raise DataError(
            f"Class probabilities for {sorted(probabilities)}: expected the classes {sorted(full)} of the "
            f"full input, with the predicted class {label!r} among them."
        )
    if not all(0.0 <= p < math.inf for p in probabilities.values()) or not sum(probabilities.values()):
        raise DataError(f"Class probabilities {dict(probabilities)}: expected finite values, not all 0.")
