"""How sure a label is: probabilities tempered to what dev has shown, and labels that are withheld below a floor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from rationalize.errors import ConfigError

ABSTAIN = "abstain"
"""The label of a text on which a model is not sure enough."""
LEAST_EXAMPLES = 20
"""With fewer labeled examples, a temperature says more about them than about the model."""
_LOG_RANGE = (-3.0, 3.0)
_STEPS = 60
_GOLDEN = (5**0.5 - 1) / 2
_TINY = 1e-12

MinConfidence = float | Mapping[str, float]
"""The confidence that a label needs: one number for all, or a number for each of some labels."""


@dataclass(frozen=True, slots=True)
class ConfidenceRule:
    """Turns class probabilities into a label and its confidence.

    Attributes:
        temperature: Above 1, the model is less sure than its probabilities; below 1, surer.
        floors: By label: the confidence below which it is withheld.
    """

    temperature: float = 1.0
    floors: Mapping[str, float] = field(default_factory=dict)

    def judge(self, probabilities: Mapping[str, float]) -> tuple[str, float]:
        """Return the label, or `abstain`, and how sure the most probable label is."""
        label = max(probabilities, key=probabilities.__getitem__)
        names = list(probabilities)
        tempered = temper(np.array([[probabilities[name] for name in names]]), self.temperature)[0]
        confidence = float(tempered[names.index(label)])
        return (ABSTAIN if confidence < self.floors.get(label, 0.0) else label), confidence


def make_rule(temperature: float, wanted: MinConfidence | None, labels: Sequence[str]) -> ConfidenceRule:
    """Make the rule of a model.

    Raises:
        ConfigError: If a floor is not between 0 and 1, is that of no label, or a class is itself called abstain.
    """
    if wanted is None:
        return ConfidenceRule(temperature)
    floors = dict(wanted) if isinstance(wanted, Mapping) else dict.fromkeys(labels, wanted)
    for name, floor in floors.items():
        if name not in labels:
            expected = ", ".join(labels)
            raise ConfigError(
                f"min_confidence: saw the label {name!r}, expected one of {expected}.", field="min_confidence"
            )
        if not 0 <= floor <= 1:
            raise ConfigError(f"min_confidence: saw {floor!r}, expected 0 to 1.", field="min_confidence")
    if ABSTAIN in labels:
        raise ConfigError(
            f"min_confidence: a class of this model is called {ABSTAIN!r} itself. Leave it out.",
            field="min_confidence",
        )
    return ConfidenceRule(temperature, floors)


def temper(probabilities: np.ndarray, temperature: float) -> np.ndarray:
    """Scale rows of probabilities: what a softmax of the logits divided by the temperature would have given."""
    if temperature == 1.0:
        return probabilities
    logs = np.log(np.maximum(probabilities, _TINY)) / temperature
    scaled = np.exp(logs - logs.max(-1, keepdims=True))
    tempered: np.ndarray = scaled / scaled.sum(-1, keepdims=True)
    return tempered


def fit_temperature(probabilities: np.ndarray, gold: np.ndarray) -> float:
    """Find the temperature under which the true classes are most probable.

    The truth counts a little less than 1, as in Platt's scaling: a model that is never wrong on few examples is not
    made infinitely sure.

    Args:
        probabilities: One row per example.
        gold: Index of each true class.
    """
    rows, classes = probabilities.shape
    doubt = 1.0 / (rows + 2)
    targets = np.full((rows, classes), doubt / (classes - 1))
    targets[np.arange(rows), gold] = 1 - doubt

    def lose(log_temperature: float) -> float:
        tempered = temper(probabilities, float(np.exp(log_temperature)))
        return float(-(targets * np.log(np.maximum(tempered, _TINY))).sum(-1).mean())

    low, high = _LOG_RANGE
    for _ in range(_STEPS):  # the loss has one valley: golden sections close in on it
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        if lose(left) <= lose(right):
            high = right
        else:
            low = left
    return float(np.exp((low + high) / 2))
