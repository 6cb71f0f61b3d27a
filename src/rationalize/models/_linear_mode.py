"""Linear layers that multiply in another way inside a block, whoever calls them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

Multiply = Callable[[Tensor, Tensor, Tensor | None], Tensor]
"""Vectors (…, n), a weight (m, n) and perhaps a bias (m,) to what a linear layer makes of them (…, m)."""


class MultiplyBy(TorchFunctionMode):
    """Hands what linear layers multiply to a function."""

    def __init__(self, multiply: Multiply) -> None:
        super().__init__()
        self.multiply = multiply

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if func is F.linear and len(args) == 3 and not kwargs:
            return self.multiply(*args)
        return func(*args, **kwargs)
