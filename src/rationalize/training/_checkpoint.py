"""Save and load checkpoints: complete or absent, hashed, without pickle. A run resumes from the newest intact one."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from rationalize.errors import CheckpointError
from rationalize.files import atomic_dir, manifest_problems, read_json, sweep_parts, write_json
from rationalize.methods.base import Method
from rationalize.models.weights import collect_weights, load_weights, save_tensors
from rationalize.training._epoch_choice import Standing
from rationalize.training.optim import Players


@dataclass
class TrainState:
    """The progress of training. All randomness is keyed by these numbers, so resuming needs nothing else.

    Attributes:
        epoch: The current epoch, from 0.
        position: Batches done in this epoch.
        step: Batches done in all epochs.
        phase_steps: Batches done per phase, in all epochs (in a cycle, decides whose turn it is).
        sums: This epoch's loss totals: part -> [sum, count].
        standing: The best epoch so far, by dev scores.
        log_rows: Rows of metrics.jsonl written so far.
        finished: Whether training is over.
        loss_scale: The scale of half-precision losses; empty: as at the start.
    """

    epoch: int = 0
    position: int = 0
    step: int = 0
    phase_steps: dict[str, int] = field(default_factory=dict)
    sums: dict[str, list[float]] = field(default_factory=dict)
    standing: Standing = field(default_factory=Standing)
    log_rows: int = 0
    finished: bool = False
    loss_scale: list[float] = field(default_factory=list)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> TrainState:
        """Read back what `asdict` returned."""
        return cls(**{**values, "standing": Standing(**values["standing"])})


class Checkpoints:
    """A run's checkpoint folder."""

    def __init__(self, folder: Path, keep: int) -> None:
        self.folder = folder
        self.keep = keep

    def name(self, state: TrainState) -> Path:
        """Return the folder of a checkpoint."""
        return self.folder / f"step-{state.step:08d}"

    def save(self, method: Method, players: Players, state: TrainState) -> None:
        """Write a checkpoint, then delete the oldest ones beyond `keep`."""
        with atomic_dir(self.name(state)) as part:
            save_tensors(collect_weights(method), part / "model.safetensors")
            save_tensors(players.state_dict(), part / "optimizer.safetensors")
            write_json(part / "state.json", asdict(state))
        for old in self._list_steps()[: -self.keep]:
            shutil.rmtree(old)

    def save_best(self, method: Method) -> None:
        """Save these weights as the best so far."""
        with atomic_dir(self.folder / "best") as part:
            save_tensors(collect_weights(method), part / "model.safetensors")

    def load_best(self, method: Method) -> None:
        """Load the best weights into the method."""
        from safetensors.torch import load_file

        problems = manifest_problems(self.folder / "best")
        if problems:
            lines = [f"{self.folder / 'best'}: the run's best weights are missing or damaged.", *problems]
            lines.append("Train again in another folder.")
            raise CheckpointError("\n".join(lines))
        path = self.folder / "best" / "model.safetensors"
        with torch.no_grad():
            load_weights(method, load_file(path), str(path))

    def load_newest(
        self,
        method: Method,
        players: Players,
        report: Callable[[str], None],
        share: Callable[[dict[str, Tensor], dict[str, Tensor], TrainState], None] = lambda *_: None,
    ) -> TrainState | None:
        """Load the newest intact checkpoint; delete and report damaged ones. None: no checkpoint is left.

        `share` gets the weights, the optimizers' state and the progress that were read.
        """
        from safetensors.torch import load_file

        if self.folder.is_dir():
            sweep_parts(self.folder)
        for folder in reversed(self._list_steps()):
            problems = manifest_problems(folder)
            if problems:
                report(f"checkpoint {folder.name} is damaged and was removed: {'; '.join(problems)}")
                shutil.rmtree(folder)
                continue
            weights, optimizers = (
                load_file(folder / f"{name}.safetensors") for name in ("model", "optimizer")
            )
            with torch.no_grad():
                load_weights(method, weights, str(folder))
            players.load_state_dict(optimizers)
            state = TrainState.from_dict(read_json(folder / "state.json"))
            share(weights, optimizers, state)
            return state
        return None

    def _list_steps(self) -> list[Path]:
        return sorted(self.folder.glob("step-*")) if self.folder.is_dir() else []
