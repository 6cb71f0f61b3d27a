"""How much of a selection is shortcut: words known to correlate with the label without being evidence.

All shares are pooled over the instances whose shortcuts are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rationalize.metrics.counting import pool, ratio
from rationalize.metrics.instance import ScoredInstance
from rationalize.metrics.tokens import token_counts


@dataclass(frozen=True, slots=True)
class ShortcutScores:
    """Shares of shortcut words; None if there is nothing to divide by.

    Attributes:
        shortcut_share: Selected shortcut words / selected words. Lower is better.
        shortcut_text_share: Shortcut words / words: the expected share of a random selection.
        shortcut_recall: Selected shortcut words / shortcut words.
    """

    shortcut_share: float | None
    shortcut_text_share: float | None
    shortcut_recall: float | None


def shortcut_scores(instances: Iterable[ScoredInstance]) -> ShortcutScores:
    """Compute shortcut shares over the instances whose `shortcut_words` are known."""
    known = [(each.shortcut_words, each.selected) for each in instances if each.shortcut_words is not None]
    total = pool(token_counts(shortcuts, selected) for shortcuts, selected in known)
    return ShortcutScores(
        shortcut_share=ratio(total.hits, total.predicted),
        shortcut_text_share=ratio(total.gold, sum(len(selected) for _, selected in known)),
        shortcut_recall=ratio(total.hits, total.gold),
    )


def distribution_gap(
    in_distribution: Mapping[str, object], out_of_distribution: Mapping[str, object]
) -> dict[str, float]:
    """Subtract out-of-distribution from in-distribution numbers, for every number that both tables have.

    A large gap in `task_f1_weighted` means that the model relied on cues that fail elsewhere. Counts (`n_…`) have no
    gap.
    """
    gap = {}
    for name, value in in_distribution.items():
        other = out_of_distribution.get(name)
        numbers = isinstance(value, int | float) and isinstance(other, int | float)
        if numbers and not name.startswith("n_"):
            gap[name] = float(value) - float(other)  # type: ignore[arg-type]
    return gap
