"""Training on several processes: process 0 leads, the others help.

The leader runs the whole program: it reads data, makes artifacts, plans, decides and writes. A helper has only the
method, and does at each order what the leader does at that moment; inside, both exchange rows and gradients. Whatever
the leader trains on the way (warm start, finder, rounds) is trained by all.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

from torch import Tensor

from rationalize.config import Precision, RunConfig
from rationalize.devices import resolve_device
from rationalize.errors import ConfigError, RationalizeError, TrainingError
from rationalize.interrupts import Interrupted
from rationalize.methods.base import Method, Output
from rationalize.models.weights import is_sharded
from rationalize.processes import Group, join_group
from rationalize.text.batch import Batch
from rationalize.training import _orders as orders
from rationalize.training._helper import explain_together, find_device_problem
from rationalize.training._updater import TurnPlace, Updater


class Crew:
    """The leader's view of the processes that train together; without others, it does what one process does."""

    def __init__(self, group: Group | None = None) -> None:
        self.group = group
        self._in_step = True

    @property
    def size(self) -> int:
        """The number of processes."""
        return 1 if self.group is None else self.group.size

    def check_device(self, name: str) -> None:
        """Refuse a device that a process lacks, before work starts."""
        if self.group is None:
            return
        self.group.send(orders.CheckDevice(name))
        problems = self.group.collect(find_device_problem(name))
        found = [f"process {rank}: {problem}" for rank, problem in enumerate(problems) if problem]
        if found:
            raise ConfigError("\n".join(found), field="device")
        self.group.use_device(resolve_device(name))

    def check_sharding(self, sharding: str) -> None:
        """Refuse to keep weights in parts where there is one process only."""
        if sharding != "none" and self.group is None:
            raise ConfigError(
                f"training.sharding is {sharding}, but this is one process, which keeps everything. Start several "
                "(torchrun --nproc-per-node 2 -m rationalize train …), or set training.sharding=none.",
                field="training.sharding",
            )

    def start(self, method: Method, config: RunConfig) -> None:
        """Give a method to the helpers; from here on, they train it, too."""
        if self.group is not None:
            self.group.send(orders.StartTraining(method.to("cpu"), config))

    def share_state(
        self, weights: dict[str, Tensor], optimizers: dict[str, Tensor], scale: list[float]
    ) -> None:
        """Give the helpers what was read from a checkpoint."""
        if self.group is not None:
            self.group.send(orders.TakeState(weights, optimizers, scale))

    def begin_epoch(self, method: Method, epoch: int, *, heard: bool) -> None:
        """Tell the helpers that an epoch begins (if it is to be `heard`), or goes on."""
        if self.group is not None:
            buffers = {name: buffer.cpu() for name, buffer in method.named_buffers()}
            self.group.send(orders.BeginEpoch(epoch, heard, buffers))

    def run_turn(self, updater: Updater, place: TurnPlace, batch: Batch) -> dict[str, float]:
        """Make an update, together. The batch is on the CPU."""
        if self.group is not None:
            self.group.send(orders.RunTurn(place, batch))
        with self._together():
            return updater.run_turn(place, batch.to(updater.device))

    def join_state(self, method: Method, *, optimizers: bool) -> None:
        """Let the helpers take part in collecting weights that are kept in parts."""
        if self.group is not None and _has_parts(method):
            self.group.send(orders.JoinState(optimizers))

    def explain(self, method: Method, precision: Precision, batch: Batch) -> Output:
        """Explain a batch of dev texts, each process its own rows; alone, in the precision that is set."""
        if self.group is None:
            return method.explain(batch)
        cutoff = None if method.cutoff is None else float(method.cutoff)
        self.group.send(orders.Explain(batch.to("cpu"), cutoff, precision))
        with self._together():
            return explain_together(method, batch, self.group, precision)

    def share_result(self, method: Method, result: Any) -> None:
        """Let the helpers have what came of training; the method, which is in it, goes through the CPU."""
        if self.group is not None:
            device = next(method.parameters()).device
            method.to("cpu")
            self.dismiss(orders.Done(result))
            method.to(device)
            self._in_step = False  # they have heard the last word

    @contextmanager
    def _together(self) -> Iterator[None]:
        """Do what the helpers do at the same time. What only the leader breaks off, they cannot know about."""
        self._in_step = False
        try:
            yield
            self._in_step = True
        except RationalizeError:  # the same in all of them
            self._in_step = True
            raise

    def dismiss(self, order: orders.Done) -> None:
        """Tell the helpers that training is over, if they can still hear it."""
        if self.group is not None and self._in_step:
            with suppress(TrainingError):
                self.group.send(order)


_ALONE = Crew()
_current: ContextVar[Crew] = ContextVar("crew", default=_ALONE)


def current_crew() -> Crew:
    """Return the crew that this program leads; outside of `lead_crew`, it is alone."""
    return _current.get()


@contextmanager
def lead_crew() -> Iterator[Crew]:
    """Lead the processes that were launched with this one; at the end they hear that it is over, or what went wrong."""
    crew = Crew(join_group())
    token = _current.set(crew)
    try:
        yield crew
        crew.dismiss(orders.Done())
    except BaseException as error:
        code = error.exit_code if isinstance(error, Interrupted) else 2
        crew.dismiss(orders.Done(problem=str(error) or type(error).__name__, exit_code=code))
        raise
    finally:
        _current.reset(token)


def _has_parts(method: Method) -> bool:
    return any(is_sharded(each) for each in method.parameters())
