"""The annotated examples with their shortcuts, by whatever means the run asks for, over one or more rounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rationalize.errors import ConfigError
from rationalize.files import write_json
from rationalize.inference.engine import Engine
from rationalize.runs.training_data import TrainingData
from rationalize.runs.workspace import Workspace
from rationalize.shortcuts.discover import Discovered, discover, random_shortcuts
from rationalize.shortcuts.statistics import compare_with_truth, coverage, describe_shortcuts
from rationalize.text.words import WordRule
from rationalize.types import Example


def find_gold_shortcuts(
    workspace: Workspace, data: TrainingData, finder: Callable[[], Engine]
) -> list[Example]:
    """Gold examples with their shortcuts, from the artifact if it is there."""
    kept = set(data.gold_ids)
    gold = [example for example in data.train if example.id in kept]
    if workspace.config.shortcuts.source == "known":
        if not any(example.shortcuts for example in gold):
            raise ConfigError(
                "shortcuts.source is known, but no training example says where its shortcuts are."
            )
        return gold
    if workspace.round == 1:
        return list(workspace.keep("shortcuts", lambda: _discover_first(workspace, data, gold, finder)))
    return list(workspace.keep("shortcuts", lambda: _discover_again(workspace, data, gold, finder)))


def _discover_first(
    workspace: Workspace, data: TrainingData, gold: Sequence[Example], finder: Callable[[], Engine]
) -> list[Example]:
    """What M_un finds."""
    found = _discover_with(finder(), workspace, gold)
    _report(found, gold, workspace, data.words, {})
    return [each.to_example() for each in found]


def _discover_again(
    workspace: Workspace, data: TrainingData, gold: Sequence[Example], finder: Callable[[], Engine]
) -> list[Example]:
    """What the rounds before have found, and what the method as trained on that still selects outside gold."""
    previous = workspace.previous()
    engine = previous.train_itself(data)
    earlier = {example.id: example.shortcuts or () for example in find_gold_shortcuts(previous, data, finder)}
    new = _discover_with(engine, workspace, gold)
    joined = [each.join(earlier[each.example.id], data.words) for each in new]
    before = coverage([Discovered(example, earlier[example.id]) for example in gold], data.words)
    more = {"round": workspace.round, "before": before, "selected": coverage(new, data.words)}
    _report(joined, gold, workspace, data.words, more)
    return [each.to_example() for each in joined]


def _discover_with(engine: Engine, workspace: Workspace, gold: Sequence[Example]) -> list[Discovered]:
    chosen = workspace.config.shortcuts
    found = discover(engine, gold, min_run=chosen.min_run, require_correct=chosen.require_correct)
    return (
        random_shortcuts(found, workspace.config.seed, engine.text.words)
        if chosen.source == "random"
        else found
    )


def _report(
    found: Sequence[Discovered],
    gold: Sequence[Example],
    workspace: Workspace,
    rule: WordRule,
    more: dict[str, Any],
) -> None:
    numbers = {**describe_shortcuts(found, rule), **more}
    if any(example.shortcuts is not None for example in gold):
        numbers["against_truth"] = compare_with_truth(found, gold, rule)
    write_json(workspace.path("shortcuts.json"), numbers)
    workspace.display.message(
        f"shortcuts: {numbers['n_shortcuts']} in {numbers['n_with_shortcut']} of {numbers['n_examples']} examples"
    )
    for warning in numbers["warnings"]:
        workspace.display.message(f"warning: {warning}")
