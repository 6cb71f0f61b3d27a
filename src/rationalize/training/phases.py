"""A run's phases: the method's own, and what the run's config adds to them whatever the method is."""

from __future__ import annotations

from dataclasses import replace

import torch

from rationalize.config import RunConfig
from rationalize.methods.base import Losses, Method, Phase, Turn
from rationalize.methods.parts import uniform_losses
from rationalize.text.batch import Batch


def run_phases(method: Method, config: RunConfig) -> tuple[Phase, ...]:
    """The method's phases; with L_unif added where shortcuts are, those over annotated examples also over their copies.

    Shortcuts are in the gold pool and, where they were carried over, in the rest. A method that reads no gold
    learns from the labels of augmented copies alone.
    """
    phases: list[Phase] = []
    for phase in method.phases():
        gold = _reads_gold(method, phase)
        if config.shortcuts.uniform_weight > 0 and (gold or phase.pool == "rest"):
            phase = replace(phase, turns=tuple(_add_uniform(method, turn) for turn in phase.turns))
        phases.append(phase)
        if phase.pool != "rest" and config.augment.kind != "none":
            phases.append(replace(phase, name=f"{phase.name}_augmented", pool="augmented"))
    return tuple(phases)


def run_weights(method: Method, config: RunConfig) -> dict[str, float]:
    """Weights of all loss parts, those that the run adds included."""
    added = {"uniform": config.shortcuts.uniform_weight} if config.shortcuts.uniform_weight > 0 else {}
    return {**method.weights(), **added}


def _reads_gold(method: Method, phase: Phase) -> bool:
    return phase.pool == "gold" or (phase.pool == "all" and method.about.supervision != "none")


def _add_uniform(method: Method, turn: Turn) -> Turn:
    def loss(batch: Batch, generator: torch.Generator) -> Losses:
        return {**turn.loss(batch, generator), **uniform_losses(method, batch)}

    return replace(turn, loss=loss)
