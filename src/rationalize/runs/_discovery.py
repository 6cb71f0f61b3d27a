"""Find the shortcuts of annotated examples as the config asks, in one or more rounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rationalize.errors import ConfigError
from rationalize.files import read_json, write_json
from rationalize.inference.engine import Engine
from rationalize.runs._workspace import Workspace
from rationalize.runs.training_data import TrainingData
from rationalize.shortcuts.finder_score import FinderScore, score_finder
from rationalize.shortcuts.finding import Discovered, choose_min_run, discover, random_shortcuts
from rationalize.shortcuts.phrase_search import suspect
from rationalize.shortcuts.statistics import compare_with_truth, describe_shortcuts, measure_coverage
from rationalize.text.words import WordRule
from rationalize.types import Example


def find_gold_shortcuts(
    workspace: Workspace, data: TrainingData, finder: Callable[[], Engine]
) -> Sequence[Example]:
    """Return the gold examples with their shortcuts after all rounds; reuse artifacts."""
    gold = data.list_gold()
    if workspace.config.shortcuts.source == "known":
        if not any(example.shortcuts for example in gold):
            raise ConfigError(
                "shortcuts.source is known, but no training example with gold has shortcuts. Add `shortcuts` "
                "spans to the data, or set shortcuts.source=discovered."
            )
        return gold
    found: Sequence[Example] = ()
    for number in range(1, workspace.round + 1):
        place = workspace.in_round(number)
        if place.has("shortcuts"):
            found = place.read_examples("shortcuts")
        elif number == 1:
            found = place.write_examples("shortcuts", _discover_first(place, gold, data.dev, finder()))
        else:
            trained = workspace.in_round(number - 1).train_itself(data)
            found = place.write_examples("shortcuts", _discover_again(place, gold, found, trained))
    return found


def suspect_everywhere(workspace: Workspace, data: TrainingData) -> Sequence[Example]:
    """Return all training examples with the phrases that an audit suspects; reuse the artifact."""

    def find() -> list[Example]:
        found = suspect(data.train, data.words)
        _report(found, data.train, workspace, data.words, {})
        return [each.to_example() for each in found]

    return workspace.keep("shortcuts", find)


def _discover_first(
    workspace: Workspace, gold: Sequence[Example], dev: Sequence[Example], finder: Engine
) -> list[Example]:
    """Return the gold examples with the shortcuts that M_un finds."""
    found = _discover_with(finder, workspace, gold)
    _report(found, gold, workspace, finder.text.words, {}, score_finder(finder, dev))
    return [each.to_example() for each in found]


def _discover_again(
    workspace: Workspace, gold: Sequence[Example], found: Sequence[Example], trained: Engine
) -> list[Example]:
    """Add what the method, trained on the shortcuts found so far, still selects outside gold."""
    earlier = {example.id: example.shortcuts or () for example in found}
    new = _discover_with(trained, workspace, gold)
    rule = trained.text.words
    joined = [each.join(earlier[each.example.id], rule) for each in new]
    before = measure_coverage([Discovered(example, earlier[example.id]) for example in gold], rule)
    more = {"round": workspace.round, "before": before, "selected": measure_coverage(new, rule)}
    _report(joined, gold, workspace, rule, more)
    return [each.to_example() for each in joined]


def _discover_with(engine: Engine, workspace: Workspace, gold: Sequence[Example]) -> list[Discovered]:
    chosen = workspace.config.shortcuts
    min_run = _choose_min_run(workspace, gold, engine.text.words)
    found = discover(engine, gold, min_run=min_run, require_correct=chosen.require_correct)
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
    more: Mapping[str, object],
    finder: FinderScore | None = None,
) -> None:
    counted = describe_shortcuts(found, rule, _choose_min_run(workspace, gold, rule), finder)
    numbers: dict[str, object] = {**counted, **more}
    if any(example.shortcuts is not None for example in gold):
        numbers["against_truth"] = compare_with_truth(found, gold, rule)
    write_json(workspace.path("shortcuts.json"), numbers)
    workspace.display.message(
        f"shortcuts: {counted['n_shortcuts']} in {counted['n_with_shortcut']} of {counted['n_examples']} examples"
    )


def read_warnings(workspace: Workspace) -> tuple[str, ...]:
    """Read what was doubtful about the shortcuts; nothing where they were given."""
    path = workspace.path("shortcuts.json")
    return tuple(read_json(path)["warnings"]) if path.is_file() else ()


def _choose_min_run(workspace: Workspace, gold: Sequence[Example], rule: WordRule) -> int:
    chosen = workspace.config.shortcuts.min_run
    return choose_min_run(gold, rule) if chosen == "auto" else chosen
