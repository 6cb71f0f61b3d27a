"""A transformer whose linear layers multiply by weights that were laid out, and perhaps rounded, before.

For explaining on a CPU, where weights stay as they are. oneDNN multiplies by weights in blocks that suit the processor,
and applies the activation that follows while a block is still in the cache; torch by itself keeps rows and makes one
more pass over memory. Rounding to bfloat16 belongs here as well: to round all weights anew costs more than reading one
short text, and asking at every operation whether it is a product costs as much as the products save. So the model gets
a twin that has other linear layers and shares everything else with it. The twin is kept as long as the model's weights
are what they were.

What a row's product is does not depend on the other rows, to the bit.
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
from rationalize.models._whole_products import LEAST_WEIGHTS, has_packed_products, multiply_onednn
from rationalize.models.half_products import apply_half, has_fast_bf16

ACTIVATION = "intermediate_act_fn"
"""What BERT and its kin call the activation between the two products of a layer; it follows the first at once."""


class PackedLinear(nn.Linear):
    """A linear layer with weight and bias of another, laid out for this processor.

    With bfloat16, products are bfloat16 numbers. One that only an activation lies between and the next product stays as
    it is: that would round it again, so nothing is lost, and a good part of the time went into converting it twice.
    """

    kept_weight: Tensor
    kept_bias: Tensor | None
    packed: bool
    rounds: bool
    stays_half: bool
    activates: bool

    def forward(self, input: Tensor) -> Tensor:
        if torch.is_grad_enabled():  # methods may look at gradients to explain
            return self._activate(self._multiply_plainly(input))
        given = input.bfloat16().to(self.kept_weight.dtype) if self.rounds else input
        if self.packed:
            activation = "gelu" if self.activates else "none"
            product = multiply_onednn(given, self.kept_weight, self.kept_bias, activation=activation)
        else:
            product = self._activate(F.linear(given, self.kept_weight, self.kept_bias))
        if self.rounds:
            product = product.bfloat16()
        return product if self.stays_half else product.float()

    def _multiply_plainly(self, input: Tensor) -> Tensor:
        if self.rounds:
            return apply_half(input.float(), self.weight, self.weight.detach().bfloat16(), self.bias)
        return F.linear(input, self.weight, self.bias)

    def _activate(self, product: Tensor) -> Tensor:
        return F.gelu(product) if self.activates else product


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
class _Packed:
    """A twin, and the numbers that it was made from."""

    twin: Any
    seen: tuple[_Seen, ...]


_twins: dict[torch.dtype, WeakKeyDictionary[nn.Module, _Packed]] = {
    torch.float32: WeakKeyDictionary(),
    torch.bfloat16: WeakKeyDictionary(),
}


def pack_layers(model: Any, dtype: torch.dtype) -> Any:
    """Return the twin of a model on the CPU; made anew if what it was made from was changed in place or exchanged.

    Threads may ask at once: what is kept is replaced as a whole, and two that both miss it make the same.
    """
    found = _twins[dtype].get(model)
    if found is None or not all(each.is_same() for each in found.seen):
        seen: list[_Seen] = []
        found = _Packed(_make_twin(model, dtype, seen), tuple(seen))
        _twins[dtype][model] = found
    return found.twin


def _make_twin(module: nn.Module, dtype: torch.dtype, seen: list[_Seen]) -> nn.Module:
    """Return a copy with other linear layers that shares the rest; `seen` gets what was laid out."""
    made = {name: _pack_child(module, name, child, dtype, seen) for name, child in module.named_children()}
    if all(made[name] is child for name, child in module.named_children()):
        return module
    if any(isinstance(child, PackedLinear) and child.activates for child in made.values()):
        made[ACTIVATION] = nn.Identity()
    return cast("nn.Module", replace_children(module, **made))


def _pack_child(
    parent: nn.Module, name: str, child: nn.Module, dtype: torch.dtype, seen: list[_Seen]
) -> nn.Module:
    if type(child) is not nn.Linear or child.weight.dtype != torch.float32:
        return _make_twin(child, dtype, seen)
    rounds = dtype == torch.bfloat16
    # Rounded numbers are multiplied in single precision where that is faster.
    kept = dtype if has_fast_bf16() else torch.float32
    packed = has_packed_products(kept) and child.weight.numel() >= LEAST_WEIGHTS
    if not rounds and not packed:
        return child
    # Before it is rounded or laid out: a change meanwhile is then noticed.
    seen.extend(_Seen.look_at(child, each) for each, _ in child.named_parameters())
    layer: Any = copy(child)
    layer.__class__ = PackedLinear
    weight = child.weight.detach().to(dtype).to(kept)
    layer.packed, layer.rounds = packed, rounds
    layer.kept_weight = torch.ops.mkldnn._reorder_linear_weight(weight, None) if packed else weight
    layer.kept_bias = None if child.bias is None else child.bias.detach().to(dtype).to(kept)
    layer.stays_half = hasattr(parent, ACTIVATION)
    layer.activates = _is_gelu(getattr(parent, ACTIVATION, None))
    return cast("nn.Module", layer)


def _is_gelu(activation: Any) -> bool:
    """Return whether an activation is the exact GELU, as BERT and its kin have it."""
    return getattr(activation, "act", None) is F.gelu
