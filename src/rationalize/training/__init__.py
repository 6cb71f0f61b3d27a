"""The training loop, shared by all methods: phases, turns, players, optimizers, checkpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rationalize._rooms import open_room

if TYPE_CHECKING:
    from rationalize.training.loop import Display as Display
    from rationalize.training.loop import Trainer as Trainer
    from rationalize.training.loop import read_epochs as read_epochs
    from rationalize.training.loop import read_log as read_log
    from rationalize.training.optim import Players as Players

_HOMES = {
    "Display": "loop",
    "Players": "optim",
    "Trainer": "loop",
    "read_epochs": "loop",
    "read_log": "loop",
}
__all__ = [
    "Display",
    "Players",
    "Trainer",
    "read_epochs",
    "read_log",
]
__getattr__ = open_room(__name__, _HOMES)
