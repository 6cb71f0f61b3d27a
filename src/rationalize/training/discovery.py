"""The annotated examples with their shortcuts, by whatever means the run asks for, over one or more rounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rationalize.errors import ConfigError
from rationalize.files import write_json
from rationalize.inference.engine import Engine
from rationalize.shortcuts.discover import Discovered, discover, random_shortcuts
from rationalize.shortcuts.statistics import against_truth, coverage, statistics
from rationalize.training.data import TrainingData
from rationalize.training.workspace import Workspace
from rationalize.types import Example


def gold_with_shortcuts(
    workspace: Workspace, data: TrainingData, finder: Callable[[], Engine]
) -> list[Example]:
    """Gold examples with their shortcuts, from the artefact if it is there."""
    kept = set(data.gold_ids)
    gold = [example for example in data.train if example.id in kept]
    if workspace.config.shortcuts.source == "known":
        if not any(example.shortcuts for example in gold):
            raise ConfigError(
                "shortcuts.source is known, but no training example says where its shortcuts are."
            )
        return gold
    if workspace.round == 1:
        return list(workspace.kept("shortcuts", lambda: _first(workspace, gold, finder)))
    return list(workspace.kept("shortcuts", lambda: _again(workspace, data, gold, finder)))


def _first(workspace: Workspace, gold: Sequence[Example], finder: Callable[[], Engine]) -> list[Example]:
    """What M_un finds."""
    found = _found_by(finder(), workspace, gold)
    _report(found, gold, workspace, {})
    return [each.marked() for each in found]


def _again(
    workspace: Workspace, data: TrainingData, gold: Sequence[Example], finder: Callable[[], Engine]
) -> list[Example]:
    """What the rounds before have found, and what the method as trained on that still selects outside gold."""
    previous = workspace.previous()
    engine = previous.trained_itself(data)
    earlier = {example.id: example.shortcuts or () for example in gold_with_shortcuts(previous, data, finder)}
    new = _found_by(engine, workspace, gold)
    joined = [each.joined(earlier[each.example.id]) for each in new]
    before = coverage([Discovered(example, earlier[example.id]) for example in gold])
    _report(joined, gold, workspace, {"round": workspace.round, "before": before, "selected": coverage(new)})
    return [each.marked() for each in joined]


def _found_by(engine: Engine, workspace: Workspace, gold: Sequence[Example]) -> list[Discovered]:
    chosen = workspace.config.shortcuts
    found = discover(engine, gold, min_run=chosen.min_run, require_correct=chosen.require_correct)
    return random_shortcuts(found, workspace.config.seed) if chosen.source == "random" else found


def _report(
    found: Sequence[Discovered], gold: Sequence[Example], workspace: Workspace, more: dict[str, Any]
) -> None:
    numbers = {**statistics(found), **more}
    if any(example.shortcuts is not None for example in gold):
        numbers["against_truth"] = against_truth(found, gold)
    write_json(workspace.path("shortcuts.json"), numbers)
    workspace.display.message(
        f"shortcuts: {numbers['n_shortcuts']} in {numbers['n_with_shortcut']} of {numbers['n_examples']} examples"
    )
    for warning in numbers["warnings"]:
        workspace.display.message(f"warning: {warning}")
