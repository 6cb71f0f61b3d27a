"""A run's phases: the method's own, and what the run's config adds to them whatever the method is."""

from __future__ import annotations

from dataclasses import replace

import torch

from rationalize.config import RunConfig
from rationalize.methods.base import Losses, Method, Phase, Turn
from rationalize.methods.passes import Passes
from rationalize.methods.uniform import (
    add_uniform_passes,
    reads_gold,
    uniform_losses,
    uniform_weight,
)
from rationalize.text.batch import Batch


def run_phases(method: Method, config: RunConfig) -> tuple[Phase, ...]:
    """The method's phases; with L_unif added where shortcuts are, those over annotated examples also over their copies.

    Shortcuts are in the gold pool and, where they were carried over, in the rest. A method that reads no gold
    learns from the labels of augmented copies alone.
    """
    undecided = uniform_weight(method.about, config.shortcuts) > 0
    phases: list[Phase] = []
    for phase in method.phases():
        if undecided and (reads_gold(method.about, phase.pool) or phase.pool == "rest"):
            turns = (_add_uniform(method, turn, config.shortcuts.uniform_kl) for turn in phase.turns)
            phase = replace(phase, turns=tuple(turns))
        phases.append(phase)
        if phase.pool != "rest" and config.augment.kind != "none":
            phases.append(replace(phase, name=_copied(phase.name), pool="augmented"))
    return tuple(phases)


def run_weights(method: Method, config: RunConfig) -> dict[str, float]:
    """Weights of all loss parts, those that the run adds included."""
    weight = uniform_weight(method.about, config.shortcuts)
    return {**method.weights(), **({"uniform": weight} if weight > 0 else {})}


def run_passes(cls: type[Method], config: RunConfig, n_classes: int) -> Passes:
    """What those phases cost."""
    passes = cls.passes(cls.Config.model_validate(config.options), n_classes)
    if uniform_weight(cls.about, config.shortcuts) > 0:
        carried = config.shortcuts.propagate != "none"
        passes = add_uniform_passes(passes, cls.about, carried=carried)
    if config.augment.kind == "none":
        return passes
    copies = (
        replace(each, phase=_copied(each.phase), pool="augmented")
        for each in passes.train
        if each.pool != "rest"
    )
    return replace(passes, train=(*passes.train, *copies))


def _copied(phase: str) -> str:
    return f"{phase}_augmented"


def _add_uniform(method: Method, turn: Turn, direction: str) -> Turn:
    def loss(batch: Batch, generator: torch.Generator) -> Losses:
        return {**turn.loss(batch, generator), **uniform_losses(method, batch, direction)}

    return replace(turn, loss=loss)
