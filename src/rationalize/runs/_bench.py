"""The run's workbench, for methods that make artifacts before they train."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from rationalize.config import FinderConfig, ShortcutsConfig
from rationalize.data.held_examples import hold_examples
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
    def train(self) -> Sequence[Example]:
        """Training examples."""
        return self.data.train

    @property
    def augmented(self) -> Sequence[Example]:
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

    def keep_examples(self, name: str, make: Callable[[], Iterable[Example]]) -> Sequence[Example]:
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


def join_additions(data: TrainingData, added: Additions, map_from: int | None = None) -> TrainingData:
    """Add a method's examples, notes and environments to the data; `map_from` of them or more are in a file."""
    return replace(
        data,
        train=hold_examples(chain(data.train, added.examples), map_from) if added.examples else data.train,
        gold_ids=(*data.gold_ids, *(example.id for example in added.examples)),
        notes=(*data.notes, *added.notes),
        environments={**data.environments, **added.environments},
    )
