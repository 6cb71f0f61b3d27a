"""One update: a turn's losses on a batch, their gradient, and a step of the players that it may move.

On several processes every one of them makes the same update; see `models.encoder_pass`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from rationalize.config import TrainingConfig
from rationalize.errors import TrainingError
from rationalize.methods.base import Losses, Method, Phase, Turn
from rationalize.models.encoder_pass import PassSettings, set_passes
from rationalize.models.losses import read_numbers
from rationalize.processes import Group
from rationalize.seeding import derive_seed, generator_for
from rationalize.text.batch import Batch
from rationalize.training._gradients import average_gradients, clip_gradients
from rationalize.training._loss_scale import LossScale
from rationalize.training._table_gradients import TableGradients
from rationalize.training.optim import Players


@dataclass(frozen=True)
class TurnPlace:
    """Which update it is: a turn of a phase, by number, at a step, at this factor of the learning rate."""

    phase: int
    turn: int
    step: int
    factor: float


class Updater:
    """Makes updates of one method."""

    def __init__(
        self,
        method: Method,
        players: Players,
        config: TrainingConfig,
        *,
        phases: Sequence[Phase],
        weights: Mapping[str, float],
        seed: int,
        device: torch.device,
        group: Group | None = None,
    ) -> None:
        self.method, self.players, self.config = method, players, config
        self.phases, self.weights = phases, weights
        self.seed, self.device, self.group = seed, device, group
        self.scale = LossScale(config.precision)
        self._tables = TableGradients()

    def run_turn(self, place: TurnPlace, batch: Batch) -> dict[str, float]:
        """Run one update. Dropout draws from torch's global generator, so that is also seeded by the step."""
        phase = self.phases[place.phase]
        turn = phase.turns[place.turn]
        key = (phase.name, turn.name, place.step)
        forked = [self.device] if self.device.type == "cuda" else []
        passes = PassSettings(self.group, self.config.precision, compiled=self.config.compile)
        with torch.random.fork_rng(forked), self.players.unfreeze_only(turn.moves) as moved:
            torch.manual_seed(derive_seed(self.seed, "dropout", *key))
            with set_passes(passes):
                parts = self._add_gradients(turn, batch, generator_for(self.seed, "noise", *key))
            norm = self._finish_gradients(moved)
            # The one time that an update waits for the device: nothing that is not finite may reach the weights.
            *values, gradient = read_numbers([*(losses for losses, _ in parts), {"gradient": norm}])
            _check_finite(phase, place.step, *values)
            rates = turn.rates()
            if self.scale.accept(math.isfinite(gradient["gradient"])):
                _check_finite(phase, place.step, gradient)
                self.players.step(turn.moves, place.factor, rates)
            else:
                # Clipped by a norm that is not finite, nothing in them is zero.
                self._tables = TableGradients()
            self.players.clear()
        totals: dict[str, float] = {}
        for seen, (_, shares) in zip(values, parts, strict=True):
            for name, value in seen.items():
                totals[name] = totals.get(name, 0.0) + shares[name] * value
        return totals

    def _add_gradients(
        self, turn: Turn, batch: Batch, generator: torch.Generator
    ) -> list[tuple[Losses, dict[str, float]]]:
        """Add up the gradients of a batch's parts; return the losses of each, and its shares of them."""
        size = self.config.micro_batch or len(batch)
        parts: list[tuple[Losses, dict[str, float]]] = []
        for start in range(0, len(batch), size):
            part = batch.rows(slice(start, start + size))
            losses = self.method(turn, part, generator)
            shares = self._compute_shares(losses, part, batch)
            weighted = sum(
                (self.weights.get(name, 1.0) * shares[name] * loss for name, loss in losses.items()),
                torch.zeros((), device=self.device),
            )
            torch.autograd.backward(self.scale.enlarge(weighted))
            parts.append(({name: loss.detach() for name, loss in losses.items()}, shares))
        return parts

    def _finish_gradients(self, moved: list[nn.Parameter]) -> Tensor:
        """Make the gradient whole, that of all processes, in its true size, and clip it; return its norm before."""
        self._tables.complete(moved)
        if self.group is not None:
            average_gradients(moved, self.group)
        self.scale.shrink(moved)
        return clip_gradients(moved, self.config.clip_norm)

    def _compute_shares(self, losses: Losses, part: Batch, batch: Batch) -> dict[str, float]:
        """Return how much of the batch's mean each loss part of a micro-batch is."""
        if len(part) == len(batch):
            return dict.fromkeys(losses, 1.0)
        rows, whole, own = len(part) / len(batch), self.method.counts(batch), self.method.counts(part)
        return {name: own[name] / whole[name] if whole.get(name) else rows for name in losses}


def _check_finite(phase: Phase, step: int, *found: Mapping[str, float]) -> None:
    """Stop before losses or gradients that are not finite reach the weights."""
    for values in found:
        if all(math.isfinite(value) for value in values.values()):
            continue
        seen = ", ".join(f"{name} {value:g}" for name, value in values.items())
        raise TrainingError(
            f"step {step + 1}, phase {phase.name}: losses or gradients are no longer finite ({seen}). "
            "The run's checkpoints are from earlier steps. "
            "Lower training.learning_rate; that usually helps."
        )
