"""Some layers of a BERT-like model, as a model of their own that shares its weights.

A slice is made anew for every reading: it costs a few small dictionaries, follows the model through training, devices
and copies, and switches nothing that another thread could see.
"""

from __future__ import annotations

from copy import copy
from typing import Any

from torch import Tensor, nn


class _PassThrough(nn.Module):
    """Stands where embeddings are made, for vectors that come from the layer below."""

    def forward(self, *, inputs_embeds: Tensor, **others: Any) -> Tensor:
        return inputs_embeds


def slice_layers(model: Any, start: int, stop: int | None) -> Any:
    """Return a model that runs the layers from `start` up to `stop`; above layer 0 it reads vectors, not embeddings."""
    encoder = replace_children(model.encoder, layer=nn.ModuleList(list(model.encoder.layer)[start:stop]))
    if start == 0:
        return replace_children(model, encoder=encoder)
    # ELECTRA projects its embeddings, which were projected below.
    projected = {"embeddings_project": nn.Identity()} if hasattr(model, "embeddings_project") else {}
    return replace_children(model, encoder=encoder, embeddings=_PassThrough(), **projected)


def replace_children(module: Any, **children: nn.Module) -> Any:
    """Return a shallow copy with other children; the module itself keeps its own."""
    twin = copy(module)
    twin._modules = {**module._modules, **children}
    return twin
