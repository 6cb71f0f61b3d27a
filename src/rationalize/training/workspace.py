"""What a method or the pipeline may use before training starts: the run's settings, a folder, other trainings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rationalize.config import RunConfig, resolve_options
from rationalize.data.jsonl import read_jsonl, to_row
from rationalize.files import json_line, write_text
from rationalize.inference.engine import Engine
from rationalize.training.data import TrainingData
from rationalize.training.loop import Display
from rationalize.types import Example


@dataclass(frozen=True)
class Workspace:
    """The place where artefacts are made.

    Attributes:
        config: Settings of the run.
        folder: `artefacts/` of the run folder; what is there is reused.
        display: Where to say what is going on.
        run: Trains a config on data in a folder, resumably.
    """

    config: RunConfig
    folder: Path
    display: Display
    run: Callable[[RunConfig, TrainingData, Path, Display], Engine]

    def trained(
        self,
        method: str,
        data: TrainingData,
        *,
        options: dict[str, Any] | None = None,
        epochs: int | None = None,
    ) -> Engine:
        """Another method, trained on `data` as the run is, kept in the folder of its name."""
        training = self.config.training.model_copy(update={"epochs": epochs or self.config.training.epochs})
        other = RunConfig(
            method=method,
            options=options or {},
            seed=self.config.seed,
            data=self.config.data,
            encoder=self.config.encoder,
            training=training,
        )
        self.display.message(f"training {method} first")
        return self.run(resolve_options(other), data, self.folder / method, self.display)

    def kept(self, name: str, make: Callable[[], Iterable[Example]]) -> tuple[Example, ...]:
        """Examples of the artefact `name`, made only if it is not there.

        It is written completely or not at all: half of one would be taken for all of it on resume.
        """
        path = self.folder / f"{name}.jsonl"
        if not path.is_file():
            write_text(path, "".join(json_line(to_row(example)) for example in make()))
        return tuple(read_jsonl(path))
