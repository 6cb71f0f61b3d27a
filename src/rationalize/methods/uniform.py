"""The term that asks for indecision on shortcuts, L_unif: one piece of code wherever it acts.

It is SSR_unif's own, and a run can add it to any method that reads gold rationales (`shortcuts.uniform_weight`).
"""

from __future__ import annotations

from rationalize.config import ShortcutsConfig
from rationalize.methods.base import Losses, Method
from rationalize.methods.passes import Passes
from rationalize.methods.registry import About
from rationalize.models.losses import uniform_divergence
from rationalize.text.batch import Batch


def uniform_losses(method: Method, batch: Batch, direction: str = "uniform_to_q") -> Losses:
    """L_unif: indecision of the predictor when it sees only the shortcuts (`uniform`).

    Rows without a shortcut are left out, never shown as a text with everything hidden; without any, there is no
    such part.
    """
    rows = batch.shortcuts.any(-1)
    if not bool(rows.any()):
        return {}
    part = batch.rows(rows)
    return {"uniform": uniform_divergence(method.label_from_mask(part, part.shortcuts), direction)}


def uniform_weight(about: About, chosen: ShortcutsConfig) -> float:
    """The weight of the term in a run: as set, or else what the method asks for."""
    return about.uniform_weight if chosen.uniform_weight is None else chosen.uniform_weight


def reads_gold(about: About, pool: str) -> bool:
    """Whether the texts of a phase's pool may show their gold rationale, and with it shortcuts that were found."""
    return pool == "gold" or (pool == "all" and about.supervision != "none")


def add_uniform_passes(passes: Passes, about: About, *, carried: bool = False) -> Passes:
    """What the phases cost with the term, over the rest only where shortcuts were carried over to it."""
    acts = (
        each for each in passes.train if reads_gold(about, each.pool) or (carried and each.pool == "rest")
    )
    return passes.add(1, *(each.phase for each in acts))
