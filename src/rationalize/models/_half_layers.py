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
from torch.nn import functional as F

from rationalize.models._layer_slices import replace_children
from rationalize.models.half_products import apply_half

ACTIVATION = "intermediate_act_fn"
"""What BERT and its kin call the activation between the two products of a layer; it follows the first at once."""


class HalfLinear(nn.Linear):
    """A linear layer with weight and bias of another, rounded.

    Products are bfloat16 numbers. One that only an activation lies between and the next product stays as it is: that
    would round it again, so nothing is lost, and a good part of the time went into converting it twice.
    """

    half_weight: Tensor
    half_bias: Tensor | None
    stays_half: bool

    def forward(self, input: Tensor) -> Tensor:
        if torch.is_grad_enabled():  # methods may look at gradients to explain
            return apply_half(input.float(), self.weight, self.half_weight, self.bias)
        product = F.linear(input.bfloat16(), self.half_weight, self.half_bias)
        return product if self.stays_half else product.float()


@dataclass(frozen=True)
class _Seen:
    """A weight or bias as it was: where its numbers are, and how often they had been changed.

    The place is watched, but not kept: no other numbers can get its address meanwhile.
    """

    layer: nn.Linear
    name: str
    place: StorageWeakRef
    version: int

    @classmethod
    def look_at(cls, layer: nn.Linear, name: str) -> _Seen:
        """Remember a layer's weight or bias."""
        tensor = getattr(layer, name)
        place = StorageWeakRef(tensor.untyped_storage())  # type: ignore[no-untyped-call]
        return cls(layer, name, place, _get_version(tensor))

    def is_same(self) -> bool:
        """Return whether the layer still has these numbers."""
        tensor = getattr(self.layer, self.name)
        return _get_version(tensor) == self.version and tensor.untyped_storage()._cdata == self.place.cdata


def _get_version(tensor: Tensor) -> int:
    """Return how often numbers were changed in place; a tensor that was made for inference alone does not count."""
    return 0 if tensor.is_inference() else tensor._version


@dataclass(frozen=True)
class _Rounded:
    """A twin, and the numbers that it was made from."""

    twin: Any
    seen: tuple[_Seen, ...]


_twins: WeakKeyDictionary[nn.Module, _Rounded] = WeakKeyDictionary()


def halve_layers(model: Any) -> Any:
    """Return the twin of a model on the CPU; made anew if what was rounded was changed in place or exchanged.

    Threads may ask at once: what is kept is replaced as a whole, and two that both miss it make the same.
    """
    found = _twins.get(model)
    if found is None or not all(each.is_same() for each in found.seen):
        seen: list[_Seen] = []
        found = _Rounded(_make_twin(model, seen), tuple(seen))
        _twins[model] = found
    return found.twin


def _make_twin(module: nn.Module, seen: list[_Seen], *, stays_half: bool = False) -> nn.Module:
    """Return a copy with other linear layers that shares the rest; `seen` gets what was rounded."""
    if type(module) is nn.Linear and module.weight.dtype == torch.float32:
        # Before rounding: a change meanwhile is then noticed.
        seen.extend(_Seen.look_at(module, name) for name, _ in module.named_parameters())
        layer: Any = copy(module)
        layer.__class__ = HalfLinear
        layer.half_weight = module.weight.detach().bfloat16()
        layer.half_bias = None if module.bias is None else module.bias.detach().bfloat16()
        layer.stays_half = stays_half
        return cast("nn.Module", layer)
    activates = hasattr(module, ACTIVATION)
    made = {name: _make_twin(child, seen, stays_half=activates) for name, child in module.named_children()}
    if all(made[name] is child for name, child in module.named_children()):
        return module
    return cast("nn.Module", replace_children(module, **made))
