"""Build a model from a folder of unknown origin: whatever is wrong in it is a ModelFormatError, and nothing is huge."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import nn

from rationalize.errors import ModelFormatError
from rationalize.models.weights import collect_weights

SPARE = 1000
"""Parameters that a module may have beyond those of its weights file: shared ones, and those that are never saved."""
DTYPES = {
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.float64: "F64",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}
Described = Mapping[str, tuple[tuple[int, ...], str]]


@contextmanager
def blame(path: Path) -> Iterator[None]:
    """Turn whatever goes wrong into a ModelFormatError that names the file."""
    try:
        yield
    except ModelFormatError:
        raise
    except Exception as error:
        raise ModelFormatError(f"{path}: does not make a model: {_describe(error)}.") from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # tokenizers' way to fail, beside all other errors
            raise
        raise ModelFormatError(f"{path}: does not make a model: {_describe(error)}.") from error


def _describe(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error).strip()[:300]}".rstrip(".")


def check_fit(build: Callable[[], nn.Module], described: Described, path: Path) -> None:
    """Compare a module with its weights file, before either takes memory.

    Raises:
        ModelFormatError: If names, shapes or dtypes differ.
    """
    with _limit_parameters(len(described) * 4 + SPARE, path), torch.device("meta"):
        own = collect_weights(build())
    expected = {name: (tuple(tensor.shape), DTYPES.get(tensor.dtype, "?")) for name, tensor in own.items()}
    missing, extra = sorted(expected.keys() - described.keys()), sorted(described.keys() - expected.keys())
    if missing or extra:
        raise ModelFormatError(
            f"{path}: the weights do not fit the model. Missing: {missing[:5] or 'none'}; "
            f"unknown: {extra[:5] or 'none'}. Expected the file that was saved with this config."
        )
    for name, (shape, kind) in described.items():
        if (shape, kind) != expected[name]:
            wanted = f"shape {expected[name][0]} of {expected[name][1]}"
            raise ModelFormatError(f"{path}: {name} has shape {shape} of {kind}, expected {wanted}.")


@contextmanager
def _limit_parameters(most: int, path: Path) -> Iterator[None]:
    """Stop a construction that would go on for ever, in this thread."""
    thread, count = threading.get_ident(), 0

    def note(module: nn.Module, name: str, parameter: Any) -> None:
        nonlocal count
        if threading.get_ident() == thread:
            count += 1
            if count > most:
                raise ModelFormatError(f"{path}: the config describes a far larger model than these weights.")

    handle = nn.modules.module.register_module_parameter_registration_hook(note)
    try:
        yield
    finally:
        handle.remove()


def check_finite(tensors: Mapping[str, torch.Tensor], path: Path) -> None:
    """Refuse weights that are no numbers."""
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
            raise ModelFormatError(f"{path}: {name} holds values that are not finite numbers.")
