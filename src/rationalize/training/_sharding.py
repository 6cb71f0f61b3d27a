"""Keep encoder layers in parts, one per process (fully sharded data parallelism)."""

from __future__ import annotations

import torch

from rationalize.errors import ConfigError
from rationalize.methods.base import Method
from rationalize.models.reading import Encoder
from rationalize.processes import Group


def shard_layers(method: Method, device: torch.device, group: Group) -> None:
    """Keep a part of every encoder layer in each process; a layer is whole only while it runs.

    Embeddings and heads stay whole: methods read them outside of the encoder's pass.
    """
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh(device.type, (group.size,))
    encoders = {id(each): each for each in method.modules() if isinstance(each, Encoder)}
    for encoder in encoders.values():
        layers = encoder.list_layers()
        if not layers:
            raise ConfigError(
                f"training.sharding: encoder {encoder.name} has no layers to keep in parts. "
                "Set training.sharding=none.",
                field="training.sharding",
            )
        for layer in layers:
            # Said aloud, since a layer that belongs to no larger part would else stay whole after a pass.
            fully_shard(layer, mesh=mesh, reshard_after_forward=True)
