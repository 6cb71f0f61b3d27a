"""Token F1, in the two definitions that papers print under one name.

- `token_scores_eraser`: ERASER's. Words of whole documents; averaged over (example, document) instances.
- `token_f1_micro_piece`: SSR's. Word pieces that the model saw, all documents as one long vector.

They are not comparable: on a long and a short document the same prediction may score 0.59 and 0.21.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress
from operator import and_

from rationalize.errors import DataError
from rationalize.metrics.counting import Counts, Scores, instance_scores, pool, prf, ratio

Mask = Sequence[bool] | Sequence[int]


@dataclass(frozen=True, slots=True)
class PieceScores:
    """SSR's token scores; `support`: gold pieces, `selected_fraction`: selected pieces / pieces."""

    p: float
    r: float
    f1: float
    support: int
    selected_fraction: float


def token_counts(gold: Mask, selected: Mask) -> Counts:
    """Count the tokens that are gold and selected, gold, and selected."""
    if len(gold) != len(selected):
        raise DataError(
            f"got a gold mask of {len(gold)} tokens and a selection of {len(selected)}: "
            "both must cover the same tokens. Fill what the model did not read with 0."
        )
    return Counts(int(sum(map(and_, gold, selected))), int(sum(gold)), int(sum(selected)))


def token_scores_eraser(documents: Iterable[tuple[Mask, Mask]]) -> Scores | None:
    """Compute ERASER's `token_prf` of (gold, selected) word masks, one pair per (example, document).

    `macro.f1` is the leaderboards' "Token F1". Masks cover the **full** document, so gold that was cut off
    counts as missed. A document with neither gold nor selection is left out; one with only one of them
    scores 0 (see `instance_scores`).
    """
    return instance_scores(token_counts(gold, selected) for gold, selected in documents)


def token_scores_micro_piece(
    gold: Sequence[Mask], selected: Sequence[Mask], attention: Sequence[Mask] | None = None
) -> PieceScores | None:
    """Compute SSR's token precision, recall and F1 over one vector of all word pieces of the split.

    Only pieces with attention 1 count; specials and the query are among them, with gold 0. Gold beyond the
    encoder's window does not count. Long documents weigh more. With gold rate g, selecting
    everything scores 2g / (1 + g). 0 if nothing is selected or nothing is gold; None without any piece.

    Args:
        gold: 0/1 per piece, one sequence per document.
        selected: 0/1 per piece, likewise.
        attention: 1 for a real piece, 0 for padding, likewise. None: every piece is real.
    """
    attention = [[1] * len(mask) for mask in gold] if attention is None else attention
    if not [*map(len, gold)] == [*map(len, selected)] == [*map(len, attention)]:
        raise DataError("Gold, selection and attention must have the same documents and pieces.")
    rows = [_real(*row) for row in zip(gold, selected, attention)]
    total = pool(token_counts(*row) for row in rows)
    fraction = ratio(total.predicted, sum(len(row[0]) for row in rows))
    scores = prf(total)
    return None if fraction is None else PieceScores(scores.p, scores.r, scores.f1, total.gold, fraction)


def token_f1_micro_piece(
    gold: Sequence[Mask], selected: Sequence[Mask], attention: Sequence[Mask] | None = None
) -> float | None:
    """Return the F1 of `token_scores_micro_piece`."""
    scores = token_scores_micro_piece(gold, selected, attention)
    return scores.f1 if scores else None


def _real(gold: Mask, selected: Mask, attention: Mask) -> tuple[list[int], list[int]]:
    return [*compress(gold, attention)], [*compress(selected, attention)]
