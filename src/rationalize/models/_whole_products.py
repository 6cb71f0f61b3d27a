"""Linear layers that multiply in single precision by oneDNN, where torch's own library is slow.

torch multiplies matrices of single precision by MKL, which uses the widest instructions of Intel's processors alone. On
another processor that has them, too, oneDNN (a part of torch as well) multiplies more than twice as fast. So a training
there hands linear layers' products and those of their gradients to it; what is explained always multiplies so, by
weights that were laid out before (`_packed_layers`).
"""

from __future__ import annotations

import platform
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

INTEL = "GenuineIntel"
CPU_FACTS = Path("/proc/cpuinfo")
LEAST_WEIGHTS = 2**16
"""Numbers in a matrix from which on oneDNN multiplies by it: it prepares for every number of rows, which costs more
than small products save."""


@cache
def has_packed_products(dtype: torch.dtype) -> bool:
    """Return whether this torch and this processor multiply by oneDNN, with weights laid out or not.

    torch's own compiler uses these operators, but they have no public name, so another version may have others.
    """
    vectors, weight, bias = (torch.ones(size, dtype=dtype) for size in ((1, 16), (16, 16), (16,)))
    try:
        laid = torch.ops.mkldnn._reorder_linear_weight(weight, None)
        found = torch.ops.mkldnn._linear_pointwise.default(vectors, laid, bias, "gelu", [], "none")
    except (AttributeError, RuntimeError, TypeError):
        return False
    return torch.allclose(found.float(), F.gelu(torch.full((1, 16), 17.0)))


@cache
def has_slow_products() -> bool:
    """Return whether torch's products of single precision are slow on this processor, and oneDNN's are not."""
    return (
        torch.backends.mkl.is_available()  # type: ignore[no-untyped-call]
        and torch.backends.cpu.get_cpu_capability() == "AVX512"
        and INTEL not in _read_maker()
        and has_packed_products(torch.float32)
    )


def multiply_whole(vectors: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return what a linear layer makes of the vectors, multiplied by oneDNN. (…, n) -> (…, m)."""
    whole = vectors.dtype == weight.dtype == torch.float32
    if not whole or weight.numel() < LEAST_WEIGHTS or not vectors.numel():
        return F.linear(vectors, weight, bias)
    product: Tensor = _WholeProduct.apply(vectors, weight, bias)  # type: ignore[no-untyped-call]
    return product


def multiply_onednn(
    vectors: Tensor, weight: Tensor, bias: Tensor | None = None, *, activation: str = "none"
) -> Tensor:
    """Multiply by oneDNN, without a gradient; `gelu`, the exact one, comes while the product is in the cache."""
    algorithm = "none" if activation == "gelu" else ""
    product: Tensor = torch.ops.mkldnn._linear_pointwise.default(
        vectors, weight, bias, activation, [], algorithm
    )
    return product


class _WholeProduct(torch.autograd.Function):
    """vectors @ weight.T + bias, and both products' gradients, by oneDNN."""

    @staticmethod
    def forward(context: Any, vectors: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        context.save_for_backward(vectors, weight)
        return multiply_onednn(vectors, weight, bias)

    @staticmethod
    def backward(context: Any, *gradients: Any) -> Any:
        vectors, weight = context.saved_tensors
        gradient = gradients[0]
        # A gradient that is wanted of gradients comes from operators that have one.
        multiply = F.linear if torch.is_grad_enabled() else multiply_onednn
        for_vectors = multiply(gradient, weight.mT) if context.needs_input_grad[0] else None
        for_weight = None
        if context.needs_input_grad[1]:
            for_weight = multiply(gradient.flatten(0, -2).mT, vectors.flatten(0, -2).mT)
        for_bias = gradient.flatten(0, -2).sum(0) if context.needs_input_grad[2] else None
        return for_vectors, for_weight, for_bias


def _read_maker() -> str:
    """Return what the system says of who has made the processor."""
    try:
        return CPU_FACTS.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor()
