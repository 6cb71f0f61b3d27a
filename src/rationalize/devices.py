"""Find a torch device by name; refuse one that this machine lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rationalize.errors import ConfigError
from rationalize.processes import Launch, read_launch

if TYPE_CHECKING:
    import torch


def list_devices() -> list[str]:
    """List this machine's devices by name; `auto` takes the first."""
    import torch

    cuda = (
        [f"cuda:{index}" for index in range(torch.cuda.device_count())] if torch.cuda.is_available() else []
    )
    mps = ["mps"] if torch.backends.mps.is_available() else []
    return [*cuda, *mps, "cpu"]


def _check_enough(name: str, wanted: str, launch: Launch, there: list[str]) -> None:
    """Refuse to give one GPU to several processes."""
    n = sum(each.startswith("cuda") for each in there)
    if wanted == "cpu" or (name in {"auto", "cuda"} and wanted.startswith("cuda") and n >= launch.local_size):
        return
    raise ConfigError(
        f"device: {name!r} for {launch.local_size} processes on this machine, which has {n} GPU(s). Start one process "
        "per GPU with device auto or cuda, or set device to cpu.",
        field="device",
    )


def resolve_device(name: str) -> torch.device:
    """Return the device for a name: auto, cpu, cuda (the first), cuda:1 …, mps.

    Where a launcher started several processes, each has a GPU of its own: the first has the first one.

    Raises:
        ConfigError: If this machine has no such device, or too few of them for its processes.
    """
    import torch

    there = list_devices()
    launch = read_launch()
    own = 0 if launch is None else launch.local_rank
    first = f"cuda:{own}" if there[0] == "cuda:0" else there[0]
    wanted = {"auto": first, "cuda": f"cuda:{own}"}.get(name, name)
    if launch is not None and launch.local_size > 1:
        _check_enough(name, wanted, launch, there)
    if wanted not in there:
        raise ConfigError(f"device: {name!r} is not available. This machine has: auto, {', '.join(there)}.")
    return torch.device(wanted)
