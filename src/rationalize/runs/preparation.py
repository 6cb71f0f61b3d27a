"""Prepare data before a method trains: find shortcuts and make augmented copies.

Each result is a file under `artifacts/` in the run folder; a resumed run reads it instead of making it again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rationalize.augment.copies import make_copies
from rationalize.augment.counterfactual import KIND as COUNTERFACTUAL
from rationalize.augment.counterfactual import check_evidence
from rationalize.augment.semantic import describe_recall
from rationalize.config import RunConfig
from rationalize.data.held_examples import change_examples, select_examples
from rationalize.errors import ConfigError
from rationalize.files import write_json
from rationalize.inference.engine import Engine
from rationalize.methods.hooks import Prepares
from rationalize.methods.registry import method_class
from rationalize.methods.uniform import choose_uniform_weight
from rationalize.runs._bench import RunBench, join_additions
from rationalize.runs._discovery import find_gold_shortcuts, read_warnings, suspect_everywhere
from rationalize.runs._propagation import carry_to_rest
from rationalize.runs._workspace import Workspace
from rationalize.runs.training_data import TrainingData, drop_gold
from rationalize.types import Example


def needs_shortcuts(config: RunConfig) -> bool:
    """Return whether anything in the run uses shortcuts."""
    about = method_class(config.method).about
    adds_uniform = choose_uniform_weight(about, config.shortcuts) > 0
    return about.needs_shortcuts or config.augment.replaces_shortcuts or adds_uniform


def prepare_data(workspace: Workspace, data: TrainingData) -> TrainingData:
    """Add to the data what the run needs: shortcuts in the gold pool, augmented copies, the method's additions."""
    config = workspace.config
    data = mark_shortcuts(workspace, data) if needs_shortcuts(config) else _add_copies(workspace, data)
    cls = method_class(config.method)
    if cls.about.supervision == "none":
        data = drop_gold(data)
    if issubclass(cls, Prepares):
        options = cls.Config.model_validate(config.options)
        data = join_additions(data, cls.prepare(options, RunBench(workspace, data)), config.training.map_from)
    return data


def mark_shortcuts(workspace: Workspace, data: TrainingData) -> TrainingData:
    """Mark shortcuts in the gold pool and, if configured, in the rest; add augmented copies of gold examples."""
    data = _hide_known_shortcuts(data)
    finder = _Finder(workspace, data)
    if workspace.config.shortcuts.source == "audit":
        train = suspect_everywhere(workspace, data)
    else:
        gold = find_gold_shortcuts(workspace, data, finder)
        marked = {example.id: example for example in gold}
        if workspace.config.shortcuts.propagate != "none":
            rest = carry_to_rest(workspace, data, gold, finder)
            marked |= {example.id: example for example in rest}
        train = change_examples(data.train, lambda each: marked.get(each.id, each))
    data = replace(data, train=train, warnings=(*data.warnings, *read_warnings(workspace)))
    return _add_copies(workspace, data, finder)


def check_shortcuts(config: RunConfig, data: TrainingData) -> None:
    """Refuse settings of shortcuts and copies that cannot work with these data, before anything is trained."""
    if config.augment.kind == COUNTERFACTUAL:
        check_evidence(data.list_gold())
    if not needs_shortcuts(config):
        return
    chosen = config.shortcuts
    if not data.gold_ids and not (chosen.source == "audit" and config.augment.kind == "none"):
        raise ConfigError(
            f"method {config.method}, augment.kind={config.augment.kind}: shortcuts are found by "
            "comparing with gold rationales, but no training example has one to use. Raise data.gold_share."
        )
    if chosen.source == "audit" and (chosen.propagate != "none" or chosen.rounds > 1):
        raise ConfigError(
            "shortcuts.source is audit, which finds the phrases of all training texts at once: expected "
            f"shortcuts.propagate=none and shortcuts.rounds=1, saw {chosen.propagate} and {chosen.rounds}."
        )
    if chosen.propagate != "none" and len(data.gold_ids) == len(data.train):
        raise ConfigError(
            f"shortcuts.propagate={chosen.propagate}: every training example is annotated, so shortcuts have no "
            "examples to carry over to. Lower data.gold_share, or set shortcuts.propagate=none."
        )
    if chosen.rounds > 1 and chosen.source == "known":
        raise ConfigError(
            f"shortcuts.rounds={chosen.rounds}: shortcuts.source is known, so another round has nothing to discover. "
            "Set shortcuts.rounds=1 or shortcuts.source=discovered."
        )


def _hide_known_shortcuts(data: TrainingData) -> TrainingData:
    """Remove known shortcuts outside the gold pool: only propagated ones may be there."""
    gold = set(data.gold_ids)
    seen = change_examples(
        data.train, lambda each: each if each.id in gold else replace(each, shortcuts=None)
    )
    return replace(data, train=seen)


class _Finder:
    """The paper's M_un: an Un-RAT trained on the examples without gold, at the first call."""

    def __init__(self, workspace: Workspace, data: TrainingData) -> None:
        self.workspace, self.data = workspace, data
        self.engine: Engine | None = None

    def __call__(self) -> Engine:
        if self.engine is None:
            chosen = self.workspace.config.shortcuts
            self.engine = self.workspace.train_method(
                "un_rat", select_finder_data(self.data), options=chosen.finder, epochs=chosen.epochs
            )
        return self.engine


def select_finder_data(data: TrainingData) -> TrainingData:
    """Return the data that M_un learns from: the examples without gold, or all if every example has it."""
    gold = set(data.gold_ids)
    places = [place for place, each in enumerate(data.train) if each.id not in gold]
    rest = select_examples(data.train, places)
    return replace(data, train=rest or data.train, gold_ids=(), notes=())


def _add_copies(
    workspace: Workspace, data: TrainingData, finder: Callable[[], Engine] | None = None
) -> TrainingData:
    """Add the augmented copies of gold examples that the run wants, if any."""
    chosen = workspace.config.augment
    if chosen.kind == "none":
        return data

    def make() -> list[Example]:
        n = round(chosen.share * len(data.train))
        model = finder() if finder and chosen.kind in {"semantic", "mixed"} else None
        return make_copies(
            chosen.kind,
            data.list_gold(),
            data.train,
            n,
            workspace.config.seed,
            data.words,
            model,
            exact_vectors=chosen.exact_vectors,
            on_recall=note_recall,
        )

    def note_recall(recall: float) -> None:
        workspace.display.message(describe_recall(recall))
        write_json(workspace.path(f"{name}-search.json"), {"recall": recall})

    name = name_copies(workspace.config)
    return replace(data, augmented=workspace.keep(name, make))


def name_copies(config: RunConfig) -> str:
    """Return the name of the artifact with the run's augmented copies."""
    return f"augmented-{config.augment.kind}-{config.augment.share:g}"
