"""Find the score above which a model shows a word, so that it shows the wanted share of all words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from rationalize.inference.engine import Engine
    from rationalize.text.windows import Encoded

MOST_TEXTS = 500
"""Texts that the cutoff is found on: some ten thousand words fix a share to within a percent."""
MOST_WORDS = 40_000
"""Words that it is found on, if texts are long."""
LEAST_TEXTS = 50
"""Texts that it is found on, however long they are: some show far more than others."""


def calibrate(engine: Engine, encoded: Sequence[Encoded]) -> None:
    """Set the method's cutoff, if its decoding is calibrated. Looks at texts alone, not at labels or gold."""
    method: Any = engine.method
    if method.cutoff is None or not encoded:
        return
    scores = [item.explanation.scores for item in engine.explain_encoded(_sample(encoded))]
    cutoff = find_cutoff(np.concatenate(scores), method.config.selection.share)
    method.cutoff.fill_(cutoff)


def _sample(encoded: Sequence[Encoded]) -> Sequence[Encoded]:
    """Return an even sample of the texts, of fewer texts if they are long."""
    words = sum(len(each.words) for each in encoded) / len(encoded)
    wanted = min(MOST_TEXTS, max(LEAST_TEXTS, int(MOST_WORDS / max(1.0, words))))
    return encoded[:: -(-len(encoded) // wanted)]


def find_cutoff(scores: np.ndarray, share: float) -> float:
    """Return the score that this share of the scores exceeds, midway between two of them."""
    wanted = round(share * len(scores))
    ordered = np.sort(scores)[::-1]
    if wanted == 0 or len(scores) == 0:
        return 1.0
    if wanted == len(scores):
        return -1.0
    return float(ordered[wanted - 1] + ordered[wanted]) / 2
