"""Compile encoders while training (`training.compile`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn

from rationalize.models.reading import Encoder

BACKEND = "inductor"
"""Of torch.compile; it needs a C++ compiler on a CPU, and Triton on a GPU."""


@contextmanager
def compile_encoders(method: nn.Module, *, wanted: bool = True) -> Iterator[None]:
    """Inside the block, layers of encoders are compiled; names and values of weights stay as they are.

    Layers one by one, not models: readings that end at a layer, or begin there, run the same compiled layers. Lengths
    vary, so shapes are left open.
    """
    parts = [part for part in _list_parts(method) if wanted]
    for part in parts:
        part.compile(backend=BACKEND, dynamic=True)
    try:
        yield
    finally:
        for part in parts:
            part._compiled_call_impl = None


def _list_parts(method: nn.Module) -> list[nn.Module]:
    """List the layers of every encoder that can be read layer by layer, and the other encoders' models as a whole."""
    found: list[nn.Module] = []
    for encoder in method.modules():
        if isinstance(encoder, Encoder):
            model = getattr(encoder, "model", None)
            if encoder.depth is not None and model is not None:
                found += list(model.encoder.layer)
            elif model is not None:
                found.append(model)
    return found
