"""Watching a game being trained: who was moved in which step, bit for bit."""

from __future__ import annotations

from dataclasses import replace

import torch
from contract import losses_of, train_rows, turns_of

from helpers import Listener, tiny_corpus, tiny_rows
from rationalize.config import TrainingConfig


class Watcher(Listener):
    """Notes after every step which players' weights are no longer the same bits."""

    def __init__(self, method):
        super().__init__()
        self.method = method
        self.moved = []
        self.before = self._weights()

    def _weights(self):
        return {
            player: [parameter.detach().clone() for parameter in group]
            for player, group in self.method.players().items()
        }

    def step(self, phase, step, losses):
        after = self._weights()
        changed = {
            player
            for player, weights in after.items()
            if not all(torch.equal(old, new) for old, new in zip(self.before[player], weights, strict=True))
        }
        self.moved.append((phase, changed))
        self.before = after


def movers(method, folder, n=8, epochs=1):
    """Train on n examples in batches of one; (phase, moved players) of every step."""
    rows = [
        replace(row, gold=None, environment=index % 2) for index, row in enumerate(tiny_rows(tiny_corpus(n)))
    ]
    watcher = Watcher(method)
    config = TrainingConfig(epochs=epochs, batch_size=1, weight_decay=0.1)
    train_rows(method, {"all": rows}, config, folder, watcher)
    return watcher.moved


def turn_losses(method, name, batch, seed=3):
    """The loss parts of the turn of this name."""
    [turn] = [turn for _, turn in turns_of(method) if turn.name == name]
    return losses_of(method, turn, batch, seed)


def gradients(loss, parameters):
    """Gradients of a loss, zeros where it does not reach."""
    found = torch.autograd.grad(loss, parameters, allow_unused=True, retain_graph=True)
    return [torch.zeros_like(p) if g is None else g for p, g in zip(parameters, found, strict=True)]


def reaches(loss, parameters):
    """Whether any of the parameters has a gradient that is not 0."""
    return any(bool(gradient.any()) for gradient in gradients(loss, list(parameters)))
