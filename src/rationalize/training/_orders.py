"""What process 0 asks of the others while they train together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from rationalize.config import Precision, RunConfig
from rationalize.errors import TrainingError
from rationalize.methods.base import Method
from rationalize.text.batch import Batch
from rationalize.training._updater import TurnPlace


@dataclass(frozen=True)
class CheckDevice:
    """Look whether this machine has the device, and tell."""

    device: str


@dataclass(frozen=True)
class StartTraining:
    """Prepare to train this method, in place of any other one."""

    method: Method
    config: RunConfig


@dataclass(frozen=True)
class TakeState:
    """Take over the weights, the optimizers' state and the scale of losses."""

    weights: dict[str, Tensor]
    optimizers: dict[str, Tensor]
    scale: list[float]


@dataclass(frozen=True)
class BeginEpoch:
    """An epoch begins, or goes on after a pause; `buffers` are the leader's."""

    epoch: int
    heard: bool
    buffers: dict[str, Tensor]


@dataclass(frozen=True)
class RunTurn:
    """Make this update."""

    place: TurnPlace
    batch: Batch


@dataclass(frozen=True)
class Explain:
    """Explain the own rows of a batch, and hand over what was found."""

    batch: Batch
    cutoff: float | None
    precision: Precision


@dataclass(frozen=True)
class JoinState:
    """Hand over the parts of the weights that this process keeps, and of the optimizers' state if it is wanted."""

    optimizers: bool


@dataclass(frozen=True)
class Done:
    """Training is over: with a result, or with what went wrong."""

    result: Any = None
    problem: str | None = None
    exit_code: int = 0

    def take_result(self) -> Any:
        """Return the result.

        Raises:
            TrainingError: If there is none, with what process 0 says.
        """
        if self.problem is not None:
            raise TrainingError(f"process 0 ended: {self.problem}")
        return self.result
