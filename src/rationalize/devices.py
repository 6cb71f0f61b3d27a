"""Where tensors live: a device by its name, refused if it is not there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rationalize.errors import ConfigError

if TYPE_CHECKING:
    import torch


def list_devices() -> list[str]:
    """Names of the devices of this machine, the one that `auto` takes first."""
    import torch

    cuda = (
        [f"cuda:{index}" for index in range(torch.cuda.device_count())] if torch.cuda.is_available() else []
    )
    mps = ["mps"] if torch.backends.mps.is_available() else []
    return [*cuda, *mps, "cpu"]


def resolve_device(name: str) -> torch.device:
    """The device of that name: auto, cpu, cuda (the first), cuda:1 …, mps.

    Raises:
        ConfigError: If there is no such device here.
    """
    import torch

    there = list_devices()
    wanted = {"auto": there[0], "cuda": "cuda:0"}.get(name, name)
    if wanted not in there:
        raise ConfigError(f"device: {name!r} is not available. Available here: auto, {', '.join(there)}.")
    return torch.device(wanted)
