"""Players and their optimizers: who may be moved in a turn, how fast, and how it is saved without pickle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from rationalize.config import TrainingConfig
from rationalize.methods.base import Method
from rationalize.models.reading import Encoder


class Players:
    """One AdamW per player. A player that is not in a turn is frozen for real: no gradient, no momentum, no
    weight decay."""

    def __init__(self, method: Method, config: TrainingConfig) -> None:
        self.groups = method.players()
        self.names = {id(parameter): name for name, parameter in method.named_parameters()}
        in_encoder = {
            id(parameter)
            for module in method.modules()
            if isinstance(module, Encoder)
            for parameter in module.parameters()
        }
        self.optimizers = {
            player: torch.optim.AdamW(_parameter_groups(parameters, self.names, in_encoder, config))
            for player, parameters in self.groups.items()
        }
        for optimizer in self.optimizers.values():
            for group in optimizer.param_groups:
                group["base_lr"] = group["lr"]

    @contextmanager
    def only(self, moves: tuple[str, ...]) -> Iterator[list[nn.Parameter]]:
        """Let just these players learn; yields their parameters."""
        others = [p for player, group in self.groups.items() if player not in moves for p in group]
        frozen = [parameter for parameter in others if parameter.requires_grad]
        for parameter in frozen:
            parameter.requires_grad_(False)
        try:
            yield [p for player in moves for p in self.groups[player]]
        finally:
            for parameter in frozen:
                parameter.requires_grad_(True)

    def step(self, moves: tuple[str, ...], factor: float, rates: Mapping[str, float] | None = None) -> None:
        """Apply these players' gradients at `factor` times their base learning rate, then forget them.

        `rates` scales single players further.
        """
        for player in moves:
            for group in self.optimizers[player].param_groups:
                group["lr"] = group["base_lr"] * factor * (rates or {}).get(player, 1.0)
            self.optimizers[player].step()
            self.optimizers[player].zero_grad(set_to_none=True)

    def state(self) -> dict[str, Tensor]:
        """Every optimizer's tensors, named by player, parameter and kind."""
        return {
            f"{player}|{self.names[id(parameter)]}|{kind}": value
            for player, optimizer in self.optimizers.items()
            for parameter, values in optimizer.state.items()
            for kind, value in values.items()
        }

    def load_state(self, tensors: dict[str, Tensor]) -> None:
        """Put back what `state` gave."""
        for player, optimizer in self.optimizers.items():
            by_name = {self.names[id(p)]: p for group in optimizer.param_groups for p in group["params"]}
            for key, value in tensors.items():
                owner, name, kind = key.split("|")
                if owner == player:
                    parameter = by_name[name]
                    # AdamW keeps its step counter on the CPU.
                    placed = value if kind == "step" else value.to(parameter.device)
                    optimizer.state[parameter][kind] = placed.clone()


def _parameter_groups(
    parameters: list[nn.Parameter], names: dict[int, str], in_encoder: set[int], config: TrainingConfig
) -> list[dict[str, Any]]:
    """Split by learning rate (encoder or head) and weight decay (not for biases and normalization)."""
    groups: dict[tuple[bool, bool], list[nn.Parameter]] = {}
    for parameter in parameters:
        decays = parameter.ndim > 1 and "norm" not in names[id(parameter)].lower()
        groups.setdefault((id(parameter) in in_encoder, decays), []).append(parameter)
    head_rate = config.head_learning_rate or config.learning_rate
    return [
        {
            "params": members,
            "lr": config.learning_rate if encoder else head_rate,
            "weight_decay": config.weight_decay if decays else 0.0,
        }
        for (encoder, decays), members in sorted(groups.items(), key=lambda item: item[0])
    ]


def rate_factor(step: int, total: int, warmup: float) -> float:
    """Linear rise over the first `warmup` share of all steps, then linear fall to 0. Steps count from 0."""
    rising = max(1, round(total * warmup)) if warmup > 0 else 0
    if step < rising:
        return (step + 1) / rising
    return max(0.0, (total - step) / max(1, total - rising))
