"""Combine a method's phases with those that the run's config adds to any method."""

from __future__ import annotations

from dataclasses import replace

import torch

from rationalize.config import RunConfig
from rationalize.methods.base import Losses, Method, Phase, Turn
from rationalize.methods.options import find_selection_layers
from rationalize.methods.passes import Passes, name_augmented
from rationalize.methods.uniform import (
    add_uniform_passes,
    choose_uniform_weight,
    reads_gold,
    uniform_losses,
)
from rationalize.models.depth import LAYERS_FIELD, check_depth, find_depth
from rationalize.text.batch import Batch


def build_phases(method: Method, config: RunConfig) -> tuple[Phase, ...]:
    """Return the method's phases, with L_unif added and copied for augmented examples as the config wants.

    L_unif is added where examples have shortcuts: in the gold pool and, if shortcuts were propagated, in the rest.
    Phases over annotated examples are repeated over their augmented copies. A method that reads no gold learns only
    the labels of these copies.
    """
    adds_uniform = choose_uniform_weight(method.about, config.shortcuts) > 0
    phases: list[Phase] = []
    for phase in method.phases():
        if adds_uniform and (reads_gold(method.about, phase.pool) or phase.pool == "rest"):
            turns = (_add_uniform(method, turn, config.shortcuts.uniform_kl) for turn in phase.turns)
            phase = replace(phase, turns=tuple(turns))
        phases.append(phase)
        if phase.pool != "rest" and config.augment.kind != "none":
            phases.append(replace(phase, name=name_augmented(phase.name), pool="augmented"))
    return tuple(phases)


def collect_weights(method: Method, config: RunConfig) -> dict[str, float]:
    """Return the weights of all loss parts, including those that the run adds."""
    weight = choose_uniform_weight(method.about, config.shortcuts)
    return {**method.weights(), **({"uniform": weight} if weight > 0 else {})}


def collect_passes(cls: type[Method], config: RunConfig, n_classes: int) -> Passes:
    """Return the encoder passes of all phases, including those that the run adds."""
    options = cls.Config.model_validate(config.options)
    passes = cls.passes(options, n_classes)
    layers = find_selection_layers(options)
    if layers is not None:
        depth = check_depth(layers, find_depth(config.encoder), config.encoder.name, LAYERS_FIELD)
        passes = passes.cut_selection(layers / depth)
    if choose_uniform_weight(cls.about, config.shortcuts) > 0:
        carried = config.shortcuts.propagate != "none"
        passes = add_uniform_passes(passes, cls.about, carried=carried)
    return passes if config.augment.kind == "none" else passes.add_copies()


def _add_uniform(method: Method, turn: Turn, direction: str) -> Turn:
    def loss(batch: Batch, generator: torch.Generator) -> Losses:
        return {**turn.loss(batch, generator), **uniform_losses(method, batch, direction)}

    return replace(turn, loss=loss)
