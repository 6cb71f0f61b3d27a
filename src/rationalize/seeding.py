"""Every random choice depends on a seed and a purpose alone; nothing reads global random state.

`derive_seed(7, "order", epoch)` gives the same number on every machine and in every process, so a resumed
run makes the choices that the uninterrupted one would have made, with no generator state on disk.
"""

from __future__ import annotations

import hashlib
import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

Key = str | int


def derive_seed(seed: int, *purpose: Key) -> int:
    """Derive a 63-bit seed for one purpose."""
    text = "\x1f".join([str(seed), *(f"{type(key).__name__}:{key}" for key in purpose)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def python_random(seed: int, *purpose: Key) -> random.Random:
    """Make a private `random.Random` for one purpose."""
    return random.Random(derive_seed(seed, *purpose))


def generator_for(seed: int, *purpose: Key, device: str = "cpu") -> torch.Generator:
    """Make a private torch generator for one purpose."""
    import torch

    return torch.Generator(device=device).manual_seed(derive_seed(seed, *purpose))
