"""Share artifacts between runs through the cache."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rationalize.config import RunConfig
from rationalize.files import JsonObject, sweep_parts
from rationalize.locks import name_lock, wait_for_lock
from rationalize.methods.hooks import Prepares
from rationalize.methods.registry import method_class
from rationalize.runs._artifact_cache import copy_files, find_used, make_key, note_use
from rationalize.runs._workspace import Workspace
from rationalize.runs.preparation import name_copies, needs_shortcuts, prepare_data
from rationalize.runs.settings import identify
from rationalize.runs.training_data import TrainingData
from rationalize.runs.warm_start import name_classifier

KIND = "shortcuts"
UNREAD = ("uniform_weight", "uniform_kl")  # used only after shortcuts are found


def place_classifier(workspace: Workspace, data: TrainingData, cache: Path | None) -> Path:
    """Return the folder of the warm start's classifier, trained or not."""
    name = name_classifier(workspace.config, data) if cache is not None and data.start is None else None
    if cache is None or name is None:
        return workspace.folder / "warm_start"
    note_use(workspace.folder, "warm_start", cache / name)
    return cache / name


def describe_shared(config: RunConfig) -> JsonObject | None:
    """Return the settings that decide a run's shortcuts and copies; None: it does not share them.

    Runs with the same data and the same finder share its shortcuts, unless a later round makes the method its own
    finder, or the method makes its own artifacts.
    """
    if (
        issubclass(method_class(config.method), Prepares)
        or config.shortcuts.rounds > 1
        or not needs_shortcuts(config)
    ):
        return None
    chosen = identify(config)
    shortcuts = {name: value for name, value in chosen["shortcuts"].items() if name not in UNREAD}
    return {
        **{name: chosen[name] for name in ("seed", "data", "encoder", "training")},
        "shortcuts": shortcuts,
    }


def take_shared(workspace: Workspace, data: TrainingData) -> None:
    """Copy shortcuts and augmented examples once from the cache to the run; make missing ones in the cache first."""
    settings, cache = describe_shared(workspace.config), workspace.cache
    if cache is None or settings is None or find_used(workspace.folder, KIND) is not None:
        return
    known = {id: [[span.start, span.end] for span in spans] for id, spans in data.hidden_shortcuts.items()}
    entry = cache / f"{KIND}-{make_key(workspace.config, data, settings, known)}"
    with wait_for_lock(name_lock(entry)):
        sweep_parts(entry)
        shared = replace(workspace, folder=entry)
        if shared.has("shortcuts"):
            workspace.display.message("shortcuts: reused from cache")
        prepare_data(shared, data)
        names = ["shortcuts.jsonl", "shortcuts.json", "propagated.jsonl"]
        if workspace.config.augment.kind != "none":
            names.append(f"{name_copies(workspace.config)}.jsonl")
        copy_files(entry, workspace.folder, names)
    note_use(workspace.folder, KIND, entry)
