"""BERT and its kin without what transformers does around their products, for explaining.

transformers serves many models, tasks and caches in the same code. Asking for all that takes longer than a small model
takes to multiply, and a few milliseconds of a larger one, so a text that is read alone waits for it. A lean model has
the same modules, weights and hooks as the one it was made from, and computes the same.
"""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple, cast
from weakref import WeakKeyDictionary

from torch import Tensor, nn
from torch.nn import functional as F

from rationalize.models._layer_slices import replace_children

LAYERS = ("BertLayer", "ElectraLayer", "RobertaLayer", "XLMRobertaLayer", "CamembertLayer")
"""Layers of transformers that are built alike."""


class LeanOutput(NamedTuple):
    """What a lean model returns, by transformers' own names."""

    last_hidden_state: Tensor
    pooler_output: Tensor | None


class LeanModel(nn.Module):
    """A model of transformers, made from its own parts."""

    embeddings: nn.Module
    encoder: Any

    def forward(
        self,
        inputs_embeds: Tensor,
        attention_mask: Tensor,
        token_type_ids: Tensor | None = None,
        position_ids: Tensor | None = None,
    ) -> LeanOutput:
        hidden = self.embeddings(
            inputs_embeds=inputs_embeds, token_type_ids=token_type_ids, position_ids=position_ids
        )
        if (project := self._modules.get("embeddings_project")) is not None:
            hidden = project(hidden)
        mask = _widen(attention_mask)
        for layer in self.encoder.layer:
            hidden = layer(hidden, mask)
        pooler = self._modules.get("pooler")
        return LeanOutput(hidden, None if pooler is None else pooler(hidden))


class LeanLayer(nn.Module):
    """Attention, and two products with an activation between them, each added to what it has read."""

    attention: Any
    intermediate: Any
    output: Any

    def forward(self, hidden: Tensor, mask: Tensor | None) -> Tensor:
        own, after = self.attention.self, self.attention.output
        heads = (*hidden.shape[:-1], -1, own.attention_head_size)
        query, key, value = (
            each(hidden).view(heads).transpose(1, 2) for each in (own.query, own.key, own.value)
        )
        found = F.scaled_dot_product_attention(query, key, value, mask, scale=own.scaling)
        hidden = after.LayerNorm(after.dense(found.transpose(1, 2).flatten(2)) + hidden)
        inner = self.intermediate.intermediate_act_fn(self.intermediate.dense(hidden))
        read: Tensor = self.output.LayerNorm(self.output.dense(inner) + hidden)
        return read


_lean: WeakKeyDictionary[Any, tuple[list[Any], LeanModel]] = WeakKeyDictionary()


def make_lean(model: Any) -> Any:
    """Return the same model without the overhead, or the model itself where that is not possible.

    A lean model shares weights and parts with the model, so it follows their changes; it has no dropout in its layers.
    """
    layers = list(getattr(getattr(model, "encoder", None), "layer", ()))
    if model.training or not _can_be_lean(layers, model.config):
        return model
    known, lean = _lean.get(model, ([], None))
    if lean is None or known != layers:
        lean = _strip(model)
        _lean[model] = layers, lean
    return lean


def _can_be_lean(layers: list[Any], config: Any) -> bool:
    """Return whether all layers are of one build, and do nothing beside it."""
    return (
        bool(layers)
        and all(type(layer).__name__ in LAYERS for layer in layers)
        and config._attn_implementation == "sdpa"
        and not config.is_decoder
        and not config.chunk_size_feed_forward
    )


def _strip(model: Any) -> LeanModel:
    layers = nn.ModuleList([_change_class(layer, LeanLayer) for layer in model.encoder.layer])
    whole = replace_children(model, encoder=replace_children(model.encoder, layer=layers))
    return cast("LeanModel", _change_class(whole, LeanModel))


def _change_class(module: nn.Module, kind: type[nn.Module]) -> nn.Module:
    twin = copy(module)
    twin.__class__ = kind
    return twin


def _widen(attention: Tensor) -> Tensor | None:
    """Return the mask of every query: none if all pieces are seen. (b, n) -> (b, 1, n, n)."""
    if attention.dim() == 4:
        return attention
    seen = attention.bool()
    return None if bool(seen.all()) else seen[:, None, None, :].expand(-1, 1, seen.shape[1], -1)
