"""A module's tensors by name, each only once, even if its parts share an encoder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from torch import Tensor, nn

from rationalize.errors import ModelFormatError, hear_refusals


def collect_weights(module: nn.Module) -> dict[str, Tensor]:
    """Collect parameters and persistent buffers, shared ones under their first name."""
    return {name: to_whole(tensor) for name, tensor in _name_tensors(module).items()}


def _name_tensors(module: nn.Module) -> dict[str, Tensor]:
    seen: set[int] = set()
    found: dict[str, Tensor] = {}
    for name, tensor in module.state_dict(keep_vars=True).items():
        if id(tensor) not in seen:
            seen.add(id(tensor))
            found[name] = tensor.detach()
    return found


def is_sharded(tensor: Tensor) -> bool:
    """Return whether processes keep parts of the tensor."""
    return hasattr(tensor, "full_tensor")


def to_whole(tensor: Tensor) -> Tensor:
    """Return a tensor whole; one that processes keep in parts is joined, for which all of them call this."""
    whole: Tensor = tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor
    return whole


def copy_whole(target: Tensor, source: Tensor) -> None:
    """Copy a whole tensor into one that may be kept in parts: every process takes its own."""
    if is_sharded(target):
        from torch.distributed.tensor import DTensor, distribute_tensor

        assert isinstance(target, DTensor)
        source = source.to(target.device, target.dtype)
        source = distribute_tensor(source, target.device_mesh, target.placements, src_data_rank=None)
    target.copy_(source)


def save_tensors(tensors: Mapping[str, Tensor], path: Path) -> None:
    """Write tensors as safetensors; a refusal of the disk is the OSError that it is."""
    from safetensors.torch import save_file

    with hear_refusals(path):
        save_file({name: tensor.detach().contiguous() for name, tensor in tensors.items()}, path)


def load_weights(module: nn.Module, tensors: dict[str, Tensor], where: str) -> None:
    """Copy tensors into the module; names and shapes must match exactly."""
    own = _name_tensors(module)
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
        copy_whole(own[name], tensor)
