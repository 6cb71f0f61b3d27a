"""Checkpoints: complete or absent, hashed, without pickle; the newest whole one is where a run goes on."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

from rationalize.errors import CheckpointError
from rationalize.files import atomic_dir, manifest_problems, read_json, sweep_parts, write_json
from rationalize.methods.base import Method
from rationalize.models.weights import load_weights, weights_of
from rationalize.training.epoch_choice import Standing
from rationalize.training.optim import Players


@dataclass
class TrainState:
    """Where training stands. Everything random is keyed by these numbers, so nothing else is needed.

    Attributes:
        epoch: The running epoch, from 0.
        position: Batches of this epoch already done.
        step: Batches done in all.
        phase_steps: Batches done per phase, over all epochs (decides whose turn it is in a cycle).
        sums: Running totals of the loss parts of this epoch: part -> [sum, count].
        standing: What dev has said of the epochs so far.
        log_rows: Rows of metrics.jsonl written so far.
        finished: Nothing is left to do.
    """

    epoch: int = 0
    position: int = 0
    step: int = 0
    phase_steps: dict[str, int] = field(default_factory=dict)
    sums: dict[str, list[float]] = field(default_factory=dict)
    standing: Standing = field(default_factory=Standing)
    log_rows: int = 0
    finished: bool = False

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> TrainState:
        """What `asdict` made of one."""
        return cls(**{**values, "standing": Standing(**values["standing"])})


class Checkpoints:
    """The folder of a run's checkpoints."""

    def __init__(self, folder: Path, keep: int) -> None:
        self.folder = folder
        self.keep = keep

    def save(self, method: Method, players: Players, state: TrainState) -> None:
        """Write a checkpoint and drop the oldest beyond `keep`."""
        from safetensors.torch import save_file

        with atomic_dir(self.folder / f"step-{state.step:08d}") as part:
            save_file(_contiguous(weights_of(method)), part / "model.safetensors")
            save_file(_contiguous(players.state()), part / "optimizer.safetensors")
            write_json(part / "state.json", asdict(state))
        for old in self._all()[: -self.keep]:
            shutil.rmtree(old)

    def save_best(self, method: Method) -> None:
        """Keep these weights as the best so far."""
        from safetensors.torch import save_file

        with atomic_dir(self.folder / "best") as part:
            save_file(_contiguous(weights_of(method)), part / "model.safetensors")

    def load_best(self, method: Method) -> None:
        """Put the best weights into the method."""
        from safetensors.torch import load_file

        problems = manifest_problems(self.folder / "best")
        if problems:
            lines = ["The best weights of this run cannot be read; train it again elsewhere.", *problems]
            raise CheckpointError("\n".join(lines))
        path = self.folder / "best" / "model.safetensors"
        with torch.no_grad():
            load_weights(method, load_file(path), str(path))

    def load_newest(self, method: Method, players: Players, say: Callable[[str], None]) -> TrainState | None:
        """Go back to the newest whole checkpoint; damaged ones are removed, aloud. None: there is none."""
        from safetensors.torch import load_file

        if self.folder.is_dir():
            sweep_parts(self.folder)
        for folder in reversed(self._all()):
            problems = manifest_problems(folder)
            if problems:
                say(f"checkpoint {folder.name} is damaged and was removed: {'; '.join(problems)}")
                shutil.rmtree(folder)
                continue
            with torch.no_grad():
                load_weights(method, load_file(folder / "model.safetensors"), str(folder))
            players.load_state(load_file(folder / "optimizer.safetensors"))
            return TrainState.from_dict(read_json(folder / "state.json"))
        return None

    def _all(self) -> list[Path]:
        return sorted(self.folder.glob("step-*")) if self.folder.is_dir() else []


def _contiguous(tensors: dict[str, torch.Tensor]) -> dict[str, Any]:
    return {name: tensor.detach().contiguous() for name, tensor in tensors.items()}
