"""Linear layers that multiply in bfloat16 on a CPU, and nothing else.

torch's autocast also hands half-precision vectors to normalization, activations and attention, where a CPU is no faster
and converts back and forth. Products of weights are nearly all the work, so only these are rounded here: inputs,
weights and gradients to 8 bits of mantissa, sums in single precision. A step of `minilm` on short texts is 1.6 times as
fast as in single precision, and 1.3 times with autocast.

A processor without instructions for it multiplies the rounded numbers in single precision: the product of two bfloat16
numbers is exact there, so answers are the same but for the order of sums, in some third of the time that torch's own
way takes on such a processor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

LEAST_ROWS = 16
"""Vectors from which on a product is rounded: for fewer, converting the weights costs more than it saves."""


def has_fast_bf16() -> bool:
    """Return whether this machine's processor multiplies in bfloat16 by instructions of its own.

    torch has no public name for the question, so a version that has none of these names has no such processor.
    """
    names = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    return any(getattr(torch.cpu, name, bool)() for name in names)


def multiply_half(vectors: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return what a linear layer makes of the vectors, multiplied in bfloat16. (…, n) -> (…, m)."""
    if vectors.dtype != torch.float32 or vectors.numel() < LEAST_ROWS * vectors.shape[-1]:
        return F.linear(vectors, weight, bias)
    return apply_half(vectors, weight, weight.detach().bfloat16(), bias)


def apply_half(vectors: Tensor, weight: Tensor, half_weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Do the same for a weight that was rounded before; gradients go to the weight itself."""
    product: Tensor = _HalfProduct.apply(vectors, weight, half_weight, bias)  # type: ignore[no-untyped-call]
    return product


def multiply_rounded(multiply: Callable[[Tensor, Tensor], Tensor], left: Tensor, right: Tensor) -> Tensor:
    """Return a product of bfloat16 numbers, rounded to bfloat16, as single precision."""
    if has_fast_bf16():
        return multiply(left, right).float()
    return multiply(left.float(), right.float()).bfloat16().float()


class _HalfProduct(torch.autograd.Function):
    """vectors @ weight.T + bias, and both products' gradients, in bfloat16."""

    @staticmethod
    def forward(
        context: Any, vectors: Tensor, weight: Tensor, half_weight: Tensor, bias: Tensor | None
    ) -> Tensor:
        half = vectors.bfloat16()
        context.save_for_backward(half, half_weight)
        product = multiply_rounded(F.linear, half, half_weight)
        return product if bias is None else product.add_(bias)  # in place: another pass would cost a fifth

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(context: Any, *gradients: Any) -> Any:
        half, half_weight = context.saved_tensors
        gradient = gradients[0].bfloat16()
        for_bias = gradients[0].flatten(0, -2).sum(0) if context.needs_input_grad[3] else None
        for_vectors = (
            multiply_rounded(torch.matmul, gradient, half_weight) if context.needs_input_grad[0] else None
        )
        for_weight = None
        if context.needs_input_grad[1]:
            for_weight = multiply_rounded(torch.matmul, gradient.flatten(0, -2).mT, half.flatten(0, -2))
        return for_vectors, for_weight, None, for_bias
