"""Find a torch device by name; refuse one that this machine lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rationalize.errors import ConfigError

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


def resolve_device(name: str) -> torch.device:
    """Return the device for a name: auto, cpu, cuda (the first), cuda:1 …, mps.

    Raises:
        ConfigError: If this machine has no such device.
    """
    import torch

    there = list_devices()
    wanted = {"auto": there[0], "cuda": "cuda:0"}.get(name, name)
    if wanted not in there:
        raise ConfigError(f"device: {name!r} is not available. This machine has: auto, {', '.join(there)}.")
    return torch.device(wanted)
