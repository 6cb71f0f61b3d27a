"""What has to be there before a method trains: shortcuts and augmented copies. Made once, kept, reused.

Each is a file under `artefacts/` of the run folder; a resumed run reads it back instead of making it again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from rationalize.augment.augment import augment
from rationalize.config import RunConfig
from rationalize.errors import ConfigError
from rationalize.files import write_json
from rationalize.inference.engine import Engine
from rationalize.methods.registry import method_class
from rationalize.shortcuts.discover import Discovered, discover, random_shortcuts
from rationalize.shortcuts.statistics import against_truth, statistics
from rationalize.training.data import TrainingData
from rationalize.training.workspace import Workspace
from rationalize.types import Example


def needs_shortcuts(config: RunConfig) -> bool:
    """Whether anything in the run works on shortcuts."""
    return (
        method_class(config.method).about.needs_shortcuts
        or config.augment.kind != "none"
        or config.shortcuts.uniform_weight > 0
    )


def prepared(workspace: Workspace, data: TrainingData) -> TrainingData:
    """The data as the run needs them: shortcuts marked in the gold pool, augmented copies, the method's own."""
    config = workspace.config
    if needs_shortcuts(config):
        data = with_shortcuts(workspace, data)
    cls = method_class(config.method)
    return cls.prepare(cls.Config.model_validate(config.options), workspace, data)


def with_shortcuts(workspace: Workspace, data: TrainingData) -> TrainingData:
    """Shortcuts marked in the gold pool and, if asked for, augmented copies of it."""
    if not data.gold_ids:
        raise ConfigError(
            f"method {workspace.config.method}, augment.kind={workspace.config.augment.kind}: shortcuts are found by "
            "comparing with gold rationales, and no training example may show one. Raise data.gold_share."
        )
    finder = _Finder(workspace, data)
    gold = _gold_with_shortcuts(workspace, data, finder)
    marked = {example.id: example for example in gold}
    data = replace(data, train=tuple(marked.get(example.id, example) for example in data.train))
    if workspace.config.augment.kind == "none":
        return data
    return replace(data, augmented=_augmented(workspace, data, gold, finder))


class _Finder:
    """The paper's M_un: an Un-RAT trained on the examples without gold, when first asked for."""

    def __init__(self, workspace: Workspace, data: TrainingData) -> None:
        self.workspace, self.data = workspace, data
        self.engine: Engine | None = None

    def __call__(self) -> Engine:
        if self.engine is None:
            chosen = self.workspace.config.shortcuts
            self.engine = self.workspace.trained(
                "un_rat", finder_data(self.data), options=chosen.finder, epochs=chosen.epochs
            )
        return self.engine


def finder_data(data: TrainingData) -> TrainingData:
    """The pool that M_un learns from: the examples without gold, or all where every one has it."""
    gold = set(data.gold_ids)
    rest = tuple(example for example in data.train if example.id not in gold)
    return replace(data, train=rest or data.train, gold_ids=(), notes=())


def _gold_with_shortcuts(
    workspace: Workspace, data: TrainingData, finder: Callable[[], Engine]
) -> list[Example]:
    """Gold examples with their shortcuts, from the artefact if it is there."""
    chosen = workspace.config.shortcuts
    kept = set(data.gold_ids)
    gold = [example for example in data.train if example.id in kept]
    if chosen.source == "known":
        if not any(example.shortcuts for example in gold):
            raise ConfigError(
                "shortcuts.source is known, but no training example says where its shortcuts are."
            )
        return gold
    return list(workspace.kept("shortcuts", lambda: _discovered(workspace, gold, finder)))


def _discovered(workspace: Workspace, gold: list[Example], finder: Callable[[], Engine]) -> list[Example]:
    chosen = workspace.config.shortcuts
    found = discover(finder(), gold, min_run=chosen.min_run, require_correct=chosen.require_correct)
    if chosen.source == "random":
        found = random_shortcuts(found, workspace.config.seed)
    _report(found, gold, workspace)
    return [replace(each.example, shortcuts=each.shortcuts) for each in found]


def _report(found: Sequence[Discovered], gold: Sequence[Example], workspace: Workspace) -> None:
    numbers = statistics(found)
    if any(example.shortcuts is not None for example in gold):
        numbers["against_truth"] = against_truth(found, gold)
    write_json(workspace.folder / "shortcuts.json", numbers)
    workspace.display.message(
        f"shortcuts: {numbers['n_shortcuts']} in {numbers['n_with_shortcut']} of {numbers['n_examples']} examples"
    )
    for warning in numbers["warnings"]:
        workspace.display.message(f"warning: {warning}")


def _augmented(
    workspace: Workspace, data: TrainingData, gold: Sequence[Example], finder: Callable[[], Engine]
) -> tuple[Example, ...]:
    chosen = workspace.config.augment

    def make() -> list[Example]:
        n = round(chosen.share * len(data.train))
        model = finder() if chosen.kind in {"semantic", "mixed"} else None
        return augment(chosen.kind, gold, data.train, n, workspace.config.seed, model)

    return workspace.kept(f"augmented-{chosen.kind}-{chosen.share:g}", make)
