"""What a method or the pipeline may use before training starts: the run's settings, a folder, other trainings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rationalize.config import RunConfig, resolve_options
from rationalize.data.jsonl import read_jsonl, to_row
from rationalize.files import json_line, write_text
from rationalize.inference.engine import Engine
from rationalize.runs.training_data import TrainingData
from rationalize.training.loop import Display
from rationalize.types import Example


@dataclass(frozen=True)
class Workspace:
    """The place where artifacts are made.

    Attributes:
        config: Settings of the run.
        folder: `artifacts/` of the run folder; what is there is reused.
        display: Where to say what is going on.
        run: Trains a config on data in a folder, resumably; its artifacts go there or where it is told.
    """

    config: RunConfig
    folder: Path
    display: Display
    run: Callable[[RunConfig, TrainingData, Path, Display, Path | None], Engine]

    @property
    def round(self) -> int:
        """Which round of discovery the artifacts are for."""
        return self.config.shortcuts.rounds

    def previous(self) -> Workspace:
        """The same place, one round of discovery earlier."""
        shortcuts = self.config.shortcuts.model_copy(update={"rounds": self.round - 1})
        return replace(self, config=self.config.model_copy(update={"shortcuts": shortcuts}))

    def path(self, name: str) -> Path:
        """Where a file lies that differs from round to round: shortcuts.json, then shortcuts-2.json …"""
        path = self.folder / name
        return path if self.round == 1 else path.with_stem(f"{path.stem}-{self.round}")

    def train_itself(self, data: TrainingData) -> Engine:
        """The run itself, trained on `data` in a folder of its round; it makes and uses the artifacts here."""
        self.display.message(f"round {self.round}: training {self.config.method}")
        return self.run(self.config, data, self.folder / f"round-{self.round}", self.display, self.folder)

    def train_method(
        self,
        method: str,
        data: TrainingData,
        *,
        options: dict[str, Any] | None = None,
        epochs: int | None = None,
        folder: str | None = None,
    ) -> Engine:
        """Another method, trained on `data` as the run is, kept in a folder of its name unless told otherwise."""
        # The rule by which the run's own method picks its epoch may rest on gold that the other does without.
        changed = {"epochs": epochs or self.config.training.epochs, "select_by": "auto"}
        training = self.config.training.model_copy(update=changed)
        other = RunConfig(
            method=method,
            options=options or {},
            seed=self.config.seed,
            data=self.config.data,
            encoder=self.config.encoder,
            training=training,
        )
        self.display.message(f"training {method} first")
        return self.run(resolve_options(other), data, self.folder / (folder or method), self.display, None)

    def keep(self, name: str, make: Callable[[], Iterable[Example]]) -> tuple[Example, ...]:
        """Examples of the artifact `name` of this round, made only if it is not there.

        It is written completely or not at all: half of one would be taken for all of it on resume.
        """
        path = self.path(f"{name}.jsonl")
        if not path.is_file():
            write_text(path, "".join(json_line(to_row(example)) for example in make()))
        return tuple(read_jsonl(path))
