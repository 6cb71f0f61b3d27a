"""The other side of training on several processes: a helper follows the orders of process 0."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import fields
from typing import Any

import torch
from torch import Tensor

from rationalize.config import Precision, TrainingConfig
from rationalize.devices import resolve_device
from rationalize.errors import RationalizeError
from rationalize.methods.base import Method, Output
from rationalize.methods.hooks import HearsEpochs
from rationalize.models.encoder_pass import PassSettings, set_passes
from rationalize.models.reading import Encoder
from rationalize.models.weights import collect_weights, is_sharded, load_weights
from rationalize.processes import Group
from rationalize.text.batch import Batch
from rationalize.training import _orders as orders
from rationalize.training._sharding import shard_layers
from rationalize.training._updater import Updater
from rationalize.training.optim import Players, freeze_encoders
from rationalize.training.phases import build_phases
from rationalize.training.phases import collect_weights as weigh_losses


class Helper:
    """Follows orders until training is done."""

    def __init__(self, group: Group) -> None:
        self.group = group
        self.device = torch.device("cpu")
        self.updater: Updater | None = None

    def follow_all(self) -> orders.Done:
        """Follow orders; return the last one."""
        while True:
            order = self.group.receive()
            if isinstance(order, orders.Done):
                return order
            self.follow(order)

    def follow(self, order: object) -> None:
        """Do what is asked."""
        match order:
            case orders.CheckDevice(device):
                self._check_device(device)
            case orders.StartTraining():
                self.updater = self._start(order)
            case (
                orders.TakeState()
                | orders.BeginEpoch()
                | orders.RunTurn()
                | orders.Explain()
                | orders.JoinState()
            ):
                assert self.updater is not None  # training has been started
                self._train(order, self.updater)

    def _check_device(self, name: str) -> None:
        problems = self.group.collect(find_device_problem(name))
        if not any(problems):
            self.device = resolve_device(name)
            self.group.use_device(self.device)

    def _start(self, order: orders.StartTraining) -> Updater:
        method, config = order.method, order.config
        prepare_method(method, config.training, self.device, self.group)
        return Updater(
            method,
            Players(method, config.training),
            config.training,
            phases=build_phases(method, config),
            weights=weigh_losses(method, config),
            seed=config.seed,
            device=self.device,
            group=self.group,
        )

    def _train(self, order: object, updater: Updater) -> None:
        method = updater.method
        match order:
            case orders.TakeState(weights, optimizers, scale):
                with torch.no_grad():
                    load_weights(method, weights, "process 0")
                updater.players.load_state_dict(optimizers)
                updater.scale.load_state(scale)
            case orders.BeginEpoch(epoch, heard, buffers):
                _take_buffers(method, buffers)
                if heard and isinstance(method, HearsEpochs):
                    method.begin_epoch(epoch)
                method.train()
            case orders.RunTurn(place, batch):
                # What is wrong is wrong in all of them; process 0 says so, and ends it.
                with suppress(RationalizeError):
                    updater.run_turn(place, batch.to(self.device))
            case orders.Explain(batch, cutoff, precision):
                if method.cutoff is not None and cutoff is not None:
                    method.cutoff.fill_(cutoff)
                method.eval()
                explain_together(method, batch.to(self.device), self.group, precision)
            case orders.JoinState(optimizers=wanted):
                collect_weights(method)
                if wanted:
                    updater.players.state_dict()


def prepare_method(method: Method, config: TrainingConfig, device: torch.device, group: Group | None) -> None:
    """Move a method to its device, and let it save memory as configured."""
    method.to(device)
    if config.freeze_layers is not None:
        freeze_encoders(method, config.freeze_layers)
    if config.gradient_checkpointing:
        for module in method.modules():
            if isinstance(module, Encoder):
                module.checkpoint_layers()
    if config.sharding == "fsdp" and group is not None:
        shard_layers(method, device, group)


@torch.no_grad()
def explain_together(method: Method, batch: Batch, group: Group, precision: Precision) -> Output:
    """Explain a batch, each process its own rows, all in the same precision; return all of them."""
    if any(is_sharded(each) for each in method.parameters()):
        # A layer is whole only while all run it: there is nothing to round beforehand and to keep.
        with set_passes(PassSettings(precision=precision)):
            return method.explain(batch)
    own = group.cut_rows(len(batch))[group.rank]
    with set_passes(PassSettings(precision=precision, fixed=True)):
        found = method.explain(batch.rows(own)) if own.stop > own.start else None
    parts = [each for each in group.collect(_pack(found)) if each is not None]

    def join(name: str) -> Tensor | None:
        columns = [column for part in parts if (column := part[name]) is not None]
        return torch.cat(columns).to(batch.labels.device) if columns else None

    joined: dict[str, Any] = {field.name: join(field.name) for field in fields(Output)}
    return Output(**joined)


def _pack(found: Output | None) -> dict[str, Tensor | None] | None:
    if found is None:
        return None
    values = {field.name: getattr(found, field.name) for field in fields(found)}
    return {name: None if value is None else value.cpu() for name, value in values.items()}


@torch.no_grad()
def _take_buffers(method: Method, buffers: dict[str, Tensor]) -> None:
    for name, buffer in method.named_buffers():
        buffer.copy_(buffers[name])


def find_device_problem(name: str) -> str | None:
    """Return why this process cannot use a device; None: it can."""
    try:
        resolve_device(name)
    except RationalizeError as error:
        return str(error)
    return None
