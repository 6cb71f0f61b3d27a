"""The run's workbench, for methods that make artifacts before they train."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from rationalize.config import FinderConfig, ShortcutsConfig
from rationalize.files import read_json, write_json
from rationalize.inference.engine import Engine
from rationalize.methods.preparing import Additions
from rationalize.runs._workspace import Workspace
from rationalize.runs.training_data import TrainingData
from rationalize.text.words import WordRule
from rationalize.types import Example


@dataclass(frozen=True)
class RunBench:
    """A run's examples and artifacts; implements `methods.preparing.Workbench`."""

    workspace: Workspace
    data: TrainingData

    @property
    def train(self) -> tuple[Example, ...]:
        """Training examples."""
        return self.data.train

    @property
    def augmented(self) -> tuple[Example, ...]:
        """Augmented copies."""
        return self.data.augmented

    @property
    def gold_ids(self) -> tuple[str, ...]:
        """Training examples whose gold rationale may be used."""
        return self.data.gold_ids

    @property
    def words(self) -> WordRule:
        """The rule that splits the examples into words."""
        return self.data.words

    @property
    def seed(self) -> int:
        """The run's seed."""
        return self.workspace.config.seed

    @property
    def shortcuts(self) -> ShortcutsConfig:
        """The run's shortcut settings."""
        return self.workspace.config.shortcuts

    def train_method(self, method: str, name: str, options: FinderConfig, epochs: int | None) -> Engine:
        """Train another method on the training examples, without augmented copies."""
        plain = replace(self.data, augmented=())
        return self.workspace.train_method(method, plain, options=options, epochs=epochs, folder=name)

    def keep_examples(self, name: str, make: Callable[[], Iterable[Example]]) -> tuple[Example, ...]:
        """Read the artifact NAME.jsonl; make it first if it is missing."""
        return self.workspace.keep(name, make)

    def keep_facts(self, name: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Read the artifact NAME.json; make it first if it is missing."""
        path = self.workspace.folder / f"{name}.json"
        if not path.is_file():
            write_json(path, make())
        facts: dict[str, Any] = read_json(path)
        return facts

    def show(self, text: str) -> None:
        """Show a line of text."""
        self.workspace.display.message(text)


def join_additions(data: TrainingData, added: Additions) -> TrainingData:
    """Add a method's examples, notes and environments to the data."""
    return replace(
        data,
        train=(*data.train, *added.examples),
        gold_ids=(*data.gold_ids, *(example.id for example in added.examples)),
        notes=(*data.notes, *added.notes),
        environments={**data.environments, **added.environments},
    )
