"""Use a module without training it: no dropout, no gradient for its weights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

import torch
from torch import nn

from rationalize.errors import ConfigError
from rationalize.models.weights import is_sharded

_SWITCH = RLock()


@contextmanager
def freeze(module: nn.Module) -> Iterator[None]:
    """Turn off the module's gradients and dropout inside the block."""
    training = module.training
    module.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        module.train(training)


@contextmanager
def freeze_weights(module: nn.Module) -> Iterator[None]:
    """Turn off the module's learning and dropout inside the block; gradients still reach its inputs.

    One thread at a time is inside, since what is switched belongs to all.
    """
    with _SWITCH:
        yield from _switch(module)


def _switch(module: nn.Module) -> Iterator[None]:
    modes = [(each, each.training) for each in module.modules()]
    weights = [weight for weight in module.parameters() if weight.requires_grad]
    if torch.is_grad_enabled() and any(map(is_sharded, weights)):
        raise ConfigError(
            "training.sharding: this method passes gradients through weights that do not learn meanwhile, which "
            "weights in parts cannot do. Set training.sharding=none.",
            field="training.sharding",
        )
    for each, _ in modes:
        # cuDNN has no backward pass for recurrent layers in evaluation mode; ours have no dropout inside.
        each.training = isinstance(each, nn.RNNBase)
    weights = [weight for weight in weights if not is_sharded(weight)]
    for weight in weights:
        weight.requires_grad_(False)
    try:
        yield
    finally:
        for each, mode in modes:
            each.training = mode
        for weight in weights:
            weight.requires_grad_(True)
