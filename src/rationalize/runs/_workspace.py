"""Make artifacts before training starts: the run's settings, its artifact folder, and training of other methods."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rationalize.config import FinderConfig, RunConfig
from rationalize.data.held_examples import hold_examples
from rationalize.data.jsonl import read_jsonl, to_row
from rationalize.files import json_line, write_text
from rationalize.inference.engine import Engine
from rationalize.locks import name_lock, wait_for_lock
from rationalize.runs._artifact_cache import is_whole, make_key, note_use
from rationalize.runs.model_folder import Model
from rationalize.runs.settings import identify, resolve_config
from rationalize.runs.training_data import TrainingData
from rationalize.training.loop import Display
from rationalize.types import Example

TrainFirst = Callable[[RunConfig, TrainingData, Path, Display, Path | None], Model]
"""Trains another run, or goes on with it; see `runs.run.train_first`."""


@dataclass(frozen=True)
class Workspace:
    """The place where a run makes artifacts.

    Attributes:
        config: The run's settings.
        folder: `artifacts/` in the run folder; existing files are reused.
        display: Shows progress.
        train: Trains another run, or goes on with it.
        cache: The folder of shared artifacts; None: nothing is shared.
    """

    config: RunConfig
    folder: Path
    display: Display
    train: TrainFirst
    cache: Path | None = None

    @property
    def round(self) -> int:
        """The discovery round of these artifacts, from 1."""
        return self.config.shortcuts.rounds

    def in_round(self, number: int) -> Workspace:
        """Return the workspace for another discovery round."""
        shortcuts = self.config.shortcuts.model_copy(update={"rounds": number})
        return replace(self, config=self.config.model_copy(update={"shortcuts": shortcuts}))

    def path(self, name: str) -> Path:
        """Return a file's path in this round: shortcuts.json, then shortcuts-2.json …"""
        path = self.folder / name
        return path if self.round == 1 else path.with_stem(f"{path.stem}-{self.round}")

    def train_itself(self, data: TrainingData) -> Engine:
        """Train the run's own method on `data`, in this round's folder; it shares these artifacts."""
        self.display.message(f"round {self.round}: training {self.config.method}")
        folder = self.folder / f"round-{self.round}"
        return self.train(self.config, data, folder, self.display, self.folder).engine()

    def train_method(
        self,
        method: str,
        data: TrainingData,
        *,
        options: FinderConfig | dict[str, Any] | None = None,
        epochs: int | None = None,
        folder: str | None = None,
    ) -> Engine:
        """Train another method on `data` with the run's settings; `folder` defaults to the method's name."""
        # The run's rule for choosing epochs may need gold, which the other method may not have.
        changed = {"epochs": epochs or self.config.training.epochs, "select_by": "auto", "keep": "model"}
        training = self.config.training.model_copy(update=changed)
        other = RunConfig(
            method=method,
            options=options.model_dump(mode="json") if isinstance(options, FinderConfig) else options or {},
            seed=self.config.seed,
            device=self.config.device,
            data=self.config.data,
            encoder=self.config.encoder,
            training=training,
        )
        other = resolve_config(other)
        if self.cache is None:
            return self._train_in(self.folder / (folder or method), other, data)
        place = self.cache / f"{method}-{make_key(other, data, identify(other))}"
        note_use(self.folder, folder or method, place)
        with wait_for_lock(name_lock(place)):
            return self._train_in(place, other, data)

    def _train_in(self, place: Path, config: RunConfig, data: TrainingData) -> Engine:
        if not is_whole(place, self.display):
            self.display.message(f"training {config.method} first")
        return self.train(config, data, place, self.display, None).engine()

    def keep(self, name: str, make: Callable[[], Iterable[Example]]) -> Sequence[Example]:
        """Read this round's artifact `name`; make it first if it is missing."""
        return self.read_examples(name) if self.has(name) else self.write_examples(name, make())

    def has(self, name: str) -> bool:
        """Return whether this round's artifact `name` exists."""
        return self.path(f"{name}.jsonl").is_file()

    def read_examples(self, name: str) -> Sequence[Example]:
        """Read the examples of an existing artifact."""
        return hold_examples(read_jsonl(self.path(f"{name}.jsonl")), self.config.training.map_from)

    def write_examples(self, name: str, examples: Iterable[Example]) -> Sequence[Example]:
        """Write examples as this round's artifact `name`, and return them as read back."""
        text = "".join(json_line(to_row(example)) for example in examples)
        write_text(self.path(f"{name}.jsonl"), text)
        return self.read_examples(name)
