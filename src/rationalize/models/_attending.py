"""Let a model of transformers attend in another way for a while."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def attend_by(model: Any, name: str, function: Callable[..., Any]) -> Iterator[None]:
    """Let the model's layers attend by a function inside the block; transformers finds it by the name."""
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    ALL_ATTENTION_FUNCTIONS.register(name, function)
    usual = model.config._attn_implementation
    model.config._attn_implementation = name
    try:
        yield
    finally:
        model.config._attn_implementation = usual
