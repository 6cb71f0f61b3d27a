"""Players and their optimizers: which weights a turn updates, how fast, and optimizer state without pickle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from rationalize.config import TrainingConfig
from rationalize.methods.base import Method
from rationalize.models.depth import check_depth
from rationalize.models.reading import Encoder
from rationalize.models.weights import copy_whole, is_sharded, to_whole


class Players:
    """One AdamW optimizer per player.

    A player outside the current turn is truly frozen: no gradient, no momentum, no weight decay. So are, always, the
    layers of `training.freeze_layers`: they belong to no player.
    """

    def __init__(self, method: Method, config: TrainingConfig) -> None:
        if config.freeze_layers is not None:
            freeze_encoders(method, config.freeze_layers)
        self.groups = {
            player: [each for each in parameters if each.requires_grad]
            for player, parameters in method.players().items()
        }
        self.names = {id(parameter): name for name, parameter in method.named_parameters()}
        in_encoder = {
            id(parameter)
            for module in method.modules()
            if isinstance(module, Encoder)
            for parameter in module.parameters()
        }
        self.optimizers = {
            # Fused: one pass over memory per step instead of a dozen.
            player: torch.optim.AdamW(
                _group_parameters(parameters, self.names, in_encoder, config), fused=True
            )
            for player, parameters in self.groups.items()
        }
        for optimizer in self.optimizers.values():
            for group in optimizer.param_groups:
                group["base_lr"] = group["lr"]

    @contextmanager
    def unfreeze_only(self, moves: tuple[str, ...]) -> Iterator[list[nn.Parameter]]:
        """Freeze all players but these, and yield the parameters of these."""
        others = [p for player, group in self.groups.items() if player not in moves for p in group]
        # A weight that is kept in parts cannot be switched; its gradient is thrown away instead (`clear`).
        frozen = [parameter for parameter in others if parameter.requires_grad and not is_sharded(parameter)]
        for parameter in frozen:
            parameter.requires_grad_(False)
        try:
            yield [p for player in moves for p in self.groups[player]]
        finally:
            for parameter in frozen:
                parameter.requires_grad_(True)

    def step(self, moves: tuple[str, ...], factor: float, rates: Mapping[str, float] | None = None) -> None:
        """Apply these players' gradients at `factor` times their base learning rate, then clear them.

        `rates` scales the learning rate of single players further.
        """
        for player in moves:
            for group in self.optimizers[player].param_groups:
                group["lr"] = group["base_lr"] * factor * (rates or {}).get(player, 1.0)
            self.optimizers[player].step()
            # The fused step does not count its changes, by which others see that weights are not what they were.
            torch.autograd.graph.increment_version(self.groups[player])
            self.optimizers[player].zero_grad(set_to_none=True)

    def clear(self) -> None:
        """Clear the gradients of all players."""
        for optimizer in self.optimizers.values():
            optimizer.zero_grad(set_to_none=True)

    def state_dict(self) -> dict[str, Tensor]:
        """Return every optimizer's tensors, named by player, parameter and kind."""
        return {
            f"{player}|{self.names[id(parameter)]}|{kind}": to_whole(value)
            for player, optimizer in self.optimizers.items()
            for parameter, values in optimizer.state.items()
            for kind, value in values.items()
        }

    def load_state_dict(self, tensors: dict[str, Tensor]) -> None:
        """Restore what `state_dict` returned."""
        for player, optimizer in self.optimizers.items():
            by_name = {self.names[id(p)]: p for group in optimizer.param_groups for p in group["params"]}
            for key, value in tensors.items():
                owner, name, kind = key.split("|")
                if owner == player:
                    parameter = by_name[name]
                    optimizer.state[parameter][kind] = _place(value, parameter)


def _place(value: Tensor, parameter: nn.Parameter) -> Tensor:
    """Put a number of an optimizer, or a tensor as large as a parameter, where the parameter is."""
    if not is_sharded(parameter) or value.shape != parameter.shape:
        return value.to(parameter.device, copy=True)
    placed = torch.zeros_like(parameter)
    copy_whole(placed, value)
    return placed.detach()


def freeze_encoders(method: Method, layers: int) -> None:
    """Freeze embeddings and the first layers of all encoders; one that has fewer (a shallow selector) altogether."""
    for module in method.modules():
        if isinstance(module, Encoder):
            own = min(layers, module.depth or layers)
            check_depth(own, module.depth, module.name, "training.freeze_layers")
            module.freeze_layers(own)


def _group_parameters(
    parameters: list[nn.Parameter], names: dict[int, str], in_encoder: set[int], config: TrainingConfig
) -> list[dict[str, Any]]:
    """Group by learning rate (encoder or head) and weight decay (none for biases and normalization)."""
    groups: dict[tuple[bool, bool, bool], list[nn.Parameter]] = {}
    for parameter in parameters:
        decays = parameter.ndim > 1 and "norm" not in names[id(parameter)].lower()
        kind = (id(parameter) in in_encoder, decays, is_sharded(parameter))
        groups.setdefault(kind, []).append(parameter)
    head_rate = config.head_learning_rate or config.learning_rate
    if not groups:  # a player that is frozen altogether; an optimizer wants a group all the same
        return [{"params": []}]
    return [
        {
            "params": members,
            "lr": config.learning_rate if encoder else head_rate,
            "weight_decay": config.weight_decay if decays else 0.0,
        }
        for (encoder, decays, _), members in sorted(groups.items(), key=lambda item: item[0])
    ]


def compute_rate_factor(step: int, total: int, warmup: float) -> float:
    """Return the learning rate's factor at a step, from 0.

    It rises linearly over the first `warmup` share of all steps, then falls linearly to 0.
    """
    rising = max(1, round(total * warmup)) if warmup > 0 else 0
    if step < rising:
        return (step + 1) / rising
    return max(0.0, (total - step) / max(1, total - rising))
