"""L_unif, the term that rewards indecision on shortcuts.

It is part of SSR_unif, and a run can add it to any method that reads gold rationales (`shortcuts.uniform_weight`).
"""

from __future__ import annotations

from rationalize.config import ShortcutsConfig
from rationalize.methods.base import Losses, Method
from rationalize.methods.passes import Passes
from rationalize.methods.registry import About
from rationalize.models.losses import uniform_divergence
from rationalize.text.batch import Batch


def uniform_losses(method: Method, batch: Batch, direction: str = "uniform_to_q") -> Losses:
    """Penalize decisions of a predictor that sees only shortcuts (`uniform`).

    Rows without a shortcut are left out: they would be texts with everything hidden. If no row has one, the part is
    absent.
    """
    rows = batch.shortcuts.any(-1)
    if not bool(rows.any()):
        return {}
    part = batch.rows(rows)
    return {"uniform": uniform_divergence(method.label_from_mask(part, part.shortcuts), direction)}


def choose_uniform_weight(about: About, chosen: ShortcutsConfig) -> float:
    """Return the term's weight in a run: the run's setting, or else the method's own."""
    return about.uniform_weight if chosen.uniform_weight is None else chosen.uniform_weight


def reads_gold(about: About, pool: str) -> bool:
    """Return whether a pool's examples may have gold rationales, and thus discovered shortcuts."""
    return pool == "gold" or (pool == "all" and about.supervision != "none")


def add_uniform_passes(passes: Passes, about: About, *, carried: bool = False) -> Passes:
    """Add the term's passes to the phases with gold rationales, and to the rest if shortcuts were `carried` over."""
    acts = (
        each for each in passes.train if reads_gold(about, each.pool) or (carried and each.pool == "rest")
    )
    return passes.add(1, *(each.phase for each in acts))
