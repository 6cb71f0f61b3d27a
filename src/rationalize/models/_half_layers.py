"""A transformer whose linear layers multiply in bfloat16 by weights that were rounded before.

For explaining: rounding all weights costs more than reading one short text, and asking at every operation whether it
is a product costs as much as the products save. So the model gets a twin that has other linear layers and shares
everything else with it. The twin is kept as long as the model's weights are what they were.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any, cast
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.multiprocessing.reductions import StorageWeakRef

from rationalize.models._layer_slices import replace_children
from rationalize.models.half_products import apply_half


class HalfLinear(nn.Linear):
    """A linear layer with the weight of another, rounded."""

    half_weight: Tensor

    def forward(self, input: Tensor) -> Tensor:
        return apply_half(input, self.weight, self.half_weight, self.bias)


@dataclass(frozen=True)
class _Seen:
    """The weight of a layer as it was: where its numbers are, and how often they had been changed.

    The place is watched, but not kept: no other numbers can get its address meanwhile.
    """

    layer: nn.Linear
    place: StorageWeakRef
    version: int

    @classmethod
    def look_at(cls, layer: nn.Linear) -> _Seen:
        """Remember the weight of a layer."""
        place = StorageWeakRef(layer.weight.untyped_storage())  # type: ignore[no-untyped-call]
        return cls(layer, place, _get_version(layer.weight))

    def is_same(self) -> bool:
        """Return whether the layer still has these numbers."""
        weight = self.layer.weight
        return _get_version(weight) == self.version and weight.untyped_storage()._cdata == self.place.cdata


def _get_version(weight: Tensor) -> int:
    """Return how often a weight was changed in place; one that was made for inference alone does not count."""
    return 0 if weight.is_inference() else weight._version


@dataclass(frozen=True)
class _Rounded:
    """A twin, and the weights that it was made from."""

    twin: Any
    seen: tuple[_Seen, ...]


_twins: WeakKeyDictionary[nn.Module, _Rounded] = WeakKeyDictionary()


def halve_layers(model: Any) -> Any:
    """Return the twin of a model on the CPU; made anew if a weight was changed in place or exchanged.

    Threads may ask at once: what is kept is replaced as a whole, and two that both miss it make the same.
    """
    found = _twins.get(model)
    if found is None or not all(each.is_same() for each in found.seen):
        seen: list[_Seen] = []
        found = _Rounded(_make_twin(model, seen), tuple(seen))
        _twins[model] = found
    return found.twin


def _make_twin(module: nn.Module, seen: list[_Seen]) -> nn.Module:
    """Return a copy with other linear layers that shares the rest; `seen` gets their weights."""
    if type(module) is nn.Linear:
        seen.append(_Seen.look_at(module))  # before rounding: a change meanwhile is then noticed
        layer: Any = copy(module)
        layer.__class__ = HalfLinear
        layer.half_weight = module.weight.detach().to(torch.bfloat16)
        return cast("nn.Module", layer)
    made = {name: _make_twin(child, seen) for name, child in module.named_children()}
    if all(made[name] is child for name, child in module.named_children()):
        return module
    return cast("nn.Module", replace_children(module, **made))
