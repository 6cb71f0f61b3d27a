"""Processes that train together: which of them this one is, and how they talk.

A launcher starts them (torchrun, accelerate, Slurm with the same variables); this package never does. Process 0 leads:
it alone reads data and writes files. Orders go through gloo, tensors through what fits the device.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

from rationalize.errors import ConfigError, TrainingError

if TYPE_CHECKING:
    import torch

T = TypeVar("T")

RANKS = ("RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK")
SIZES = ("WORLD_SIZE", "PMI_SIZE", "OMPI_COMM_WORLD_SIZE")
LOCAL_RANKS = ("LOCAL_RANK", "MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK")
LOCAL_SIZES = ("LOCAL_WORLD_SIZE", "MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE")
"""The variables of torchrun (and of accelerate, which uses it), and of MPI, through which accelerate starts processes
that have no GPU."""
MEETING = ("MASTER_ADDR", "MASTER_PORT")
"""Where they meet."""
PATIENCE = timedelta(days=14)
"""How long the others wait for process 0, which may read data or make artifacts; one that dies is noticed at once."""


@dataclass(frozen=True)
class Launch:
    """This process among those that were launched together.

    Attributes:
        rank: Its number, from 0.
        size: How many there are.
        local_rank: Its number on this machine.
        local_size: How many there are on this machine.
    """

    rank: int
    size: int
    local_rank: int
    local_size: int


def read_launch() -> Launch | None:
    """Read who this process is from the environment; None: it was started alone."""
    size = _read_number(SIZES)
    if size is None or size < 2 or any(name not in os.environ for name in MEETING):
        return None
    rank = _read_number(RANKS)
    if rank is None:
        raise ConfigError(f"a launcher set {SIZES[0]} to {size}, but no {RANKS[0]}. Start with torchrun.")
    local_rank = _read_number(LOCAL_RANKS) or 0
    return Launch(rank, size, local_rank, max(_read_number(LOCAL_SIZES) or 1, local_rank + 1))


def _read_number(names: Sequence[str]) -> int | None:
    """Read the first variable that is set."""
    for name in names:
        if value := os.environ.get(name):
            if not value.isdecimal():
                raise ConfigError(f"the environment variable {name} is {value!r}, expected a number.")
            return int(value)
    return None


def is_helper() -> bool:
    """Return whether this process only helps another one to train."""
    launch = read_launch()
    return launch is not None and launch.rank > 0


class Group:
    """The processes that train together, and everything they do together."""

    def __init__(self, launch: Launch) -> None:
        import torch
        from torch import distributed

        self.rank, self.size = launch.rank, launch.size
        if not distributed.is_initialized():
            both = torch.cuda.is_available() and distributed.is_nccl_available()
            backend = "cpu:gloo,cuda:nccl" if both else "gloo"
            distributed.init_process_group(
                backend, timeout=PATIENCE, rank=launch.rank, world_size=launch.size
            )
        self._talk = distributed.new_group(backend="gloo", timeout=PATIENCE)
        self._by_device: dict[str, Any] = {"cpu": self._talk}

    def use_device(self, device: torch.device) -> None:
        """Prepare to exchange tensors of a device; all processes call it with the same kind of device.

        Raises:
            ConfigError: If torch has no way to do so.
        """
        import torch
        from torch import distributed

        if device.type in self._by_device:
            return
        if device.type != "cuda" or not distributed.is_nccl_available():
            raise ConfigError(
                f"device: {self.size} processes cannot exchange tensors on {device.type}: this torch has no backend "
                "for it. Train on cpu, on CUDA with NCCL, or in one process.",
                field="device",
            )
        torch.cuda.set_device(device)
        self._by_device[device.type] = distributed.new_group(backend="nccl")

    def send(self, order: Any) -> None:
        """Give an object to all other processes; process 0 alone calls this."""
        from torch import distributed

        _exchange(lambda: distributed.broadcast_object_list([order], src=0, group=self._talk))

    def receive(self) -> Any:
        """Wait for an object from process 0."""
        from torch import distributed

        slot: list[Any] = [None]
        _exchange(lambda: distributed.broadcast_object_list(slot, src=0, group=self._talk))
        return slot[0]

    def collect(self, value: T) -> list[T]:
        """Return every process's value, in their order; all call this."""
        from torch import distributed

        found: list[Any] = [None] * self.size
        _exchange(lambda: distributed.all_gather_object(found, value, group=self._talk))
        return found

    def sum(self, tensor: torch.Tensor) -> None:
        """Replace a tensor by its sum over all processes."""
        from torch import distributed

        group = self._by_device[tensor.device.type]
        _exchange(lambda: distributed.all_reduce(tensor, group=group))

    def join_rows(self, rows: torch.Tensor, counts: Sequence[int]) -> torch.Tensor:
        """Return the rows of all processes in order, `counts` of each; what a process has beyond is left out."""
        import torch
        from torch import distributed

        most, own = max(counts), counts[self.rank]
        padded = rows.new_zeros((most, *rows.shape[1:]))
        padded[:own] = rows[:own]
        found = [torch.empty_like(padded) for _ in counts]
        group = self._by_device[rows.device.type]
        _exchange(lambda: distributed.all_gather(found, padded, group=group))
        return torch.cat([each[:count] for each, count in zip(found, counts, strict=True)])

    def cut_rows(self, n: int) -> list[slice]:
        """Cut n rows into one part per process: in order, as even as can be."""
        edges = [n * rank // self.size for rank in range(self.size + 1)]
        return [slice(start, stop) for start, stop in pairwise(edges)]


_joined: Group | None = None


def join_group() -> Group | None:
    """Meet the processes that were launched with this one, once; None: there are none."""
    global _joined
    launch = read_launch()
    if launch is None:
        return None
    if _joined is None:
        _joined = Group(launch)
    return _joined


def _exchange(talk: Callable[[], Any]) -> None:
    """Talk to the other processes; if one is gone, say so."""
    try:
        talk()
    except RuntimeError as error:
        raise TrainingError(
            "lost contact with another process of this training: it was ended, or its machine is gone "
            f"({str(error).splitlines()[0][:200]}). Resume the run; its checkpoints are complete."
        ) from error
