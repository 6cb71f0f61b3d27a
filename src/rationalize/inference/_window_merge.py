"""Merge what a method says of a text's windows: selected words, scores, and the weight of each window's word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rationalize.text.windows import Encoded

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class WindowOutput:
    """A method's output for one window, as arrays without padding."""

    mask: np.ndarray
    scores: np.ndarray
    decided: np.ndarray
    full_text: np.ndarray | None
    rationale: np.ndarray | None


@dataclass(frozen=True, slots=True)
class WindowWeights:
    """How much each window counts: for readings of the full text, and for readings of the rationale.

    The former by the part of the text that it owns, the latter by the part of the rationale.
    """

    full_text: Floats
    rationale: Floats


def weigh_windows(encoded: Encoded, parts: Sequence[WindowOutput]) -> WindowWeights:
    """Weigh the windows of a text; each kind of weight has the sum 1."""
    if len(parts) == 1:
        return WindowWeights(np.ones(1), np.ones(1))
    owned = np.array([window.owned.sum() for window in encoded.windows], dtype=float)
    taken = [(part.mask & window.owned).sum() for window, part in zip(encoded.windows, parts, strict=True)]
    selected = np.array(taken, dtype=float)
    return WindowWeights(_normalize(owned), _normalize(selected if selected.any() else owned))


def merge_selection(
    encoded: Encoded, parts: Sequence[WindowOutput]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Merge the windows' selected words, scores and selected pieces.

    In an overlap, a word selected in either window counts: whatever a predictor has read must be shown.
    """
    selected = np.zeros(len(encoded.words), dtype=bool)
    scores = np.zeros(len(encoded.words))
    pieces = np.zeros(sum(int(window.owned.sum()) for window in encoded.windows), dtype=bool)
    done = 0
    for window, part in zip(encoded.windows, parts, strict=True):
        piece, word = window.pair_pieces_with_words()
        np.logical_or.at(selected, word, part.mask[piece])
        np.maximum.at(scores, word, part.scores[piece])
        own = window.owned[window.selectable]
        first = done - int(own.argmax()) if len(own) else 0  # pieces before it are owned by earlier windows
        pieces[first : first + len(own)] |= part.mask[window.selectable]
        done += int(own.sum())
    return selected, scores, pieces


def _normalize(weights: Floats) -> Floats:
    """Scale weights to sum to 1; equal weights if all are 0 (an empty text)."""
    return weights / weights.sum() if weights.any() else np.full(len(weights), 1 / len(weights))
