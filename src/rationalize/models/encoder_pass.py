"""What happens around an encoder's pass: its precision, and in training which rows this process reads.

On several processes everything but the encoders runs on the whole batch in each of them, with the same random draws.
An encoder reads a part of the rows per process, and the vectors are joined again. So every loss is that of the whole
batch, whatever it is a mean over; no method knows about it.

**Gradients** Where vectors are joined, a process takes its own rows' gradient, times the number of processes; where
rows were taken, gradients are joined and divided by it. In between, gradients are partial and too large by that
factor, elsewhere they are whole; the mean over processes is right for any parameter, wherever it was used.

**Dropout** is drawn for the whole batch, so that a row's draws do not depend on who reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map_only

from rationalize.models._lean_layers import make_lean
from rationalize.models._linear_mode import MultiplyBy
from rationalize.models._packed_layers import pack_layers
from rationalize.models._whole_products import has_slow_products, multiply_whole
from rationalize.models.half_products import multiply_half
from rationalize.processes import Group

Read = TypeVar("Read")
PRECISIONS = {"bf16": torch.bfloat16, "fp16": torch.float16}


@dataclass(frozen=True)
class PassSettings:
    """How encoders read.

    Attributes:
        group: The processes that share the rows; None: this one reads them all.
        precision: Of matrix products inside the encoder; vectors come out in single precision.
        compiled: Whether layers are compiled; they are traced with torch's autocast.
        fixed: Whether weights stay as they are, so that they can be rounded and laid out once.
    """

    group: Group | None = None
    precision: str = "fp32"
    compiled: bool = False
    fixed: bool = False

    def choose_products(self, device: torch.device) -> AbstractContextManager[Any] | None:
        """Return how linear layers multiply on a CPU while weights may change; None: another rule decides."""
        if device.type != "cpu" or self.compiled:
            return None
        if self.precision == "bf16":  # which a CPU does best in linear layers alone
            return MultiplyBy(multiply_half)
        return MultiplyBy(multiply_whole) if self.precision == "fp32" and has_slow_products() else None


_settings: ContextVar[PassSettings | None] = ContextVar("encoder_pass", default=None)
_rows: ContextVar[_OwnRows | None] = ContextVar("own_rows", default=None)


@contextmanager
def set_passes(settings: PassSettings) -> Iterator[None]:
    """Let encoders read in this way inside the block."""
    token = _settings.set(settings)
    try:
        yield
    finally:
        _settings.reset(token)


def run_pass(read: Callable[..., Read], *tensors: Tensor | None) -> Read:
    """Run an encoder on tensors whose first dimension is the batch's rows; returns tensors, or tuples of them."""
    chosen = _settings.get()
    if chosen is None or not torch.is_tensor(tensors[0]):
        return read(*tensors)
    with _cast(chosen, tensors[0].device):
        found = read(*tensors) if chosen.group is None else _read_own_rows(read, chosen.group, tensors)
    if chosen.precision == "fp32":
        return found
    whole: Read = tree_map_only(Tensor, lambda tensor: tensor.float(), found)
    return whole


def _cast(chosen: PassSettings, device: torch.device) -> AbstractContextManager[Any]:
    products = chosen.choose_products(device)
    if products is not None:
        return nullcontext() if chosen.fixed else products
    if chosen.precision == "fp32":
        return nullcontext()
    return torch.autocast(device.type, dtype=PRECISIONS[chosen.precision])


def choose_layers(model: Any) -> Any:
    """Return the transformer that the current pass reads with: the one given, or the same with weights laid out.

    Methods may look at gradients to explain; then nothing is left out.
    """
    chosen = _settings.get()
    if chosen is None or not chosen.fixed or model.device.type != "cpu":
        return model
    packed = pack_layers(model, PRECISIONS.get(chosen.precision, torch.float32))
    return packed if torch.is_grad_enabled() else make_lean(packed)


def _read_own_rows(read: Callable[..., Read], group: Group, tensors: tuple[Tensor | None, ...]) -> Read:
    total = next(len(tensor) for tensor in tensors if tensor is not None)
    parts = group.cut_rows(total)
    counts = [part.stop - part.start for part in parts]
    own = parts[group.rank]
    if own.start == own.stop:  # more processes than rows: read one for nothing, so that all do the same
        own = slice(0, 1)
    mine = [None if each is None else _take_rows(each, group, own, counts) for each in tensors]
    with use_rows(_OwnRows(own, total)):
        found = read(*mine)

    def join(rows: Tensor) -> Tensor:
        joined: Tensor = _JoinRows.apply(rows, group, counts)  # type: ignore[no-untyped-call]
        return joined

    joined: Read = tree_map_only(Tensor, join, found)
    return joined


def _take_rows(tensor: Tensor, group: Group, own: slice, counts: list[int]) -> Tensor:
    if not (tensor.requires_grad and torch.is_grad_enabled()):
        return tensor[own]
    taken: Tensor = _TakeRows.apply(tensor, group, own, counts)  # type: ignore[no-untyped-call]
    return taken


class _TakeRows(torch.autograd.Function):
    """A process's rows; the gradient is that of all rows."""

    @staticmethod
    def forward(context: Any, tensor: Tensor, group: Group, own: slice, counts: list[int]) -> Tensor:
        context.group, context.counts = group, counts
        return tensor[own].clone()

    @staticmethod
    def backward(context: Any, *gradients: Any) -> Any:
        joined = context.group.join_rows(gradients[0].contiguous(), context.counts)
        return joined / context.group.size, None, None, None


class _JoinRows(torch.autograd.Function):
    """The rows of all processes; the gradient is that of the own ones, times the number of processes."""

    @staticmethod
    def forward(context: Any, rows: Tensor, group: Group, counts: list[int]) -> Tensor:
        context.group, context.counts, context.shape = group, counts, rows.shape
        return group.join_rows(rows.contiguous(), counts)

    @staticmethod
    def backward(context: Any, *gradients: Any) -> Any:
        group, counts = context.group, context.counts
        if not counts[group.rank]:
            return gradients[0].new_zeros(context.shape), None, None
        own = group.cut_rows(sum(counts))[group.rank]
        return gradients[0][own] * group.size, None, None


@dataclass(frozen=True)
class _OwnRows:
    """Which rows of how many a pass reads."""

    part: slice
    total: int


class _WholeDropout(TorchFunctionMode):
    """Draws dropout for all rows of the batch, and applies the own ones' part of it."""

    def __init__(self, rows: _OwnRows) -> None:
        super().__init__()
        self.part, self.total = rows.part, rows.total

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if func is F.dropout:
            return self._drop(*args, **kwargs)
        if func is F.scaled_dot_product_attention and kwargs.get("dropout_p"):
            return self._attend(*args, **kwargs)
        return func(*args, **kwargs)

    def _drop(self, input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
        own = self.part.stop - self.part.start
        per_row, odd = divmod(len(input), own)  # pieces may be stacked in the first dimension
        if not training or p == 0 or odd:
            return F.dropout(input, p, training, inplace)
        whole = input.new_ones((self.total * per_row, *input.shape[1:]))
        kept = F.dropout(whole, p, training=True)
        return input * kept[self.part.start * per_row : self.part.stop * per_row]

    def _attend(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Tensor | None = None,
        *,
        dropout_p: float,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> Tensor:
        """Attend as torch does where it drops attention weights: fused attention would draw for the own rows alone."""
        if enable_gqa:
            groups = query.shape[1] // key.shape[1]
            key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
        scores = query @ key.mT * (query.shape[-1] ** -0.5 if scale is None else scale)
        if is_causal:
            attn_mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
        if attn_mask is not None and attn_mask.dtype == torch.bool:
            scores = scores.masked_fill(~attn_mask, float("-inf"))
        elif attn_mask is not None:
            scores = scores + attn_mask
        return self._drop(scores.softmax(-1), dropout_p) @ value


@contextmanager
def use_rows(rows: _OwnRows | None) -> Iterator[None]:
    """Draw dropout as for all rows inside the block."""
    if rows is None:
        yield
        return
    token = _rows.set(rows)
    try:
        with _WholeDropout(rows):
            yield
    finally:
        _rows.reset(token)


def find_rows() -> _OwnRows | None:
    """Return which rows the current pass reads, to read them again with `use_rows`; None: all."""
    return _rows.get()


def round_again(device: torch.device) -> AbstractContextManager[Any]:
    """Return how products of the current pass are rounded, to compute a part of it once more (autocast comes back)."""
    chosen = _settings.get()
    return (chosen.choose_products(device) if chosen is not None else None) or nullcontext()
