"""A module's tensors by name, each only once, even if its parts share an encoder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from torch import Tensor, nn

from rationalize.errors import ModelFormatError, hear_refusals


def collect_weights(module: nn.Module) -> dict[str, Tensor]:
    """Collect parameters and persistent buffers, shared ones under their first name."""
    seen: set[int] = set()
    found: dict[str, Tensor] = {}
    for name, tensor in module.state_dict(keep_vars=True).items():
        if id(tensor) not in seen:
            seen.add(id(tensor))
            found[name] = tensor.detach()
    return found


def save_tensors(tensors: Mapping[str, Tensor], path: Path) -> None:
    """Write tensors as safetensors; a refusal of the disk is the OSError that it is."""
    from safetensors.torch import save_file

    with hear_refusals(path):
        save_file({name: tensor.detach().contiguous() for name, tensor in tensors.items()}, path)


def load_weights(module: nn.Module, tensors: dict[str, Tensor], where: str) -> None:
    """Copy tensors into the module; names and shapes must match exactly."""
    own = collect_weights(module)
    if own.keys() != tensors.keys():
        missing, extra = sorted(own.keys() - tensors.keys()), sorted(tensors.keys() - own.keys())
        raise ModelFormatError(
            f"{where}: the weights do not fit the model. Missing: {missing[:5] or 'none'}; "
            f"unknown: {extra[:5] or 'none'}. Expected the file that was saved with this config."
        )
    for name, tensor in tensors.items():
        if own[name].shape != tensor.shape:
            raise ModelFormatError(
                f"{where}: {name} has shape {tuple(tensor.shape)}, expected {tuple(own[name].shape)}."
            )
        own[name].copy_(tensor)
