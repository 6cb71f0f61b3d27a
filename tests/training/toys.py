"""A method that is all bookkeeping: two players of three numbers each, and a diary of what the loop asked of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from helpers import Listener, tiny_corpus, tiny_rows
from rationalize.config import Strict, TrainingConfig
from rationalize.methods.base import Losses, Method, Output, Phase, Turn
from rationalize.text.batch import Batch
from rationalize.training.loop import Trainer


class Toy(Method):
    """`left` and `right` learn to be the mean length of the rows."""

    def __init__(self, *phases: Phase, weights: Mapping[str, float] | None = None) -> None:
        super().__init__(Strict(), None, 2)  # type: ignore[arg-type]  # it has no encoder
        self.left = nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))
        self.right = nn.Parameter(torch.tensor([-1.0, 0.5, 4.0]))
        self._phases, self._weights = phases, dict(weights or {})
        self.diary: list[str] = []

    def phases(self) -> tuple[Phase, ...]:
        return self._phases

    def weights(self) -> dict[str, float]:
        return self._weights

    def players(self) -> dict[str, list[nn.Parameter]]:
        return {"left": [self.left], "right": [self.right]}

    def explain(self, batch: Batch) -> Output:
        raise NotImplementedError

    def turn(
        self, name: str, moves: tuple[str, ...] = ("left",), loss: Callable[..., Losses] | None = None
    ) -> Turn:
        """A turn that writes its name into the diary."""

        def play(batch: Batch, generator: torch.Generator) -> Losses:
            self.diary.append(name)
            return (loss or self.distance)(batch, generator)

        return Turn(name, play, moves)

    def distance(self, batch: Batch, generator: torch.Generator) -> Losses:
        return {"distance": per_row(self.left + self.right, batch).mean()}


def per_row(numbers: Tensor, batch: Batch) -> Tensor:
    """Squared distance of the numbers from each row's length."""
    return (numbers[None] - batch.attention.sum(-1)[:, None]).square().sum(-1)


def toy(*turns: str, calendar: str = "each", pool: str = "all") -> Toy:
    """A toy with one phase of the named turns."""
    method = Toy()
    method._phases = (Phase("only", pool, tuple(method.turn(name) for name in turns), calendar),)
    return method


def rows(n: int = 10) -> list[Any]:
    return tiny_rows(tiny_corpus(n))


def trainer(
    method: Method,
    folder: Path,
    *,
    n: int = 10,
    scores: Sequence[float | None] = (None,),
    tasks: Sequence[float] | None = None,
    display: Listener | None = None,
    pools: Mapping[str, Sequence[Any]] | None = None,
    seed: int = 5,
    device: str = "cpu",
    **settings: Any,
) -> Trainer:
    """A trainer whose dev scores are given, one per epoch; the last one stays.

    With `tasks`, task F1 is given too, and an epoch may be 0.1 behind the best of it.
    """
    folder.mkdir(exist_ok=True, parents=True)
    given = {
        "epochs": 1,
        "batch_size": 2,
        "learning_rate": 0.01,
        "head_learning_rate": None,
        "clip_norm": 1e9,
        **settings,
    }
    made = Trainer(
        method,
        pools or {"all": rows(n)},
        TrainingConfig(**given),
        seed=seed,
        pad_id=0,
        folder=folder,
        evaluate=lambda: {
            "epoch": float(made.state.epoch),
            **({"task_f1": tasks[made.state.epoch]} if tasks else {}),
        },
        score=lambda dev: scores[min(int(dev["epoch"]), len(scores) - 1)],
        display=display or Listener(),
        allowance=0.1 if tasks else None,
        device=device,
    )
    return made
