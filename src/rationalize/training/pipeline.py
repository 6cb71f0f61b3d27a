"""What has to be there before a method trains: shortcuts and augmented copies. Made once, kept, reused.

Each is a file under `artefacts/` of the run folder; a resumed run reads it back instead of making it again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from rationalize.augment.augment import augment
from rationalize.config import RunConfig, resolve_options
from rationalize.data.jsonl import read_jsonl, write_jsonl
from rationalize.errors import ConfigError
from rationalize.files import write_json
from rationalize.inference.engine import Engine
from rationalize.methods.registry import method_class
from rationalize.shortcuts.discover import Discovered, discover, random_shortcuts
from rationalize.shortcuts.statistics import against_truth, statistics
from rationalize.training.data import TrainingData
from rationalize.training.loop import Display
from rationalize.types import Example

Train = Callable[[RunConfig, TrainingData, Path, Display], Engine]


def needs_shortcuts(config: RunConfig) -> bool:
    """Whether anything in the run works on shortcuts."""
    return (
        method_class(config.method).about.needs_shortcuts
        or config.augment.kind != "none"
        or config.shortcuts.uniform_weight > 0
    )


def prepared(
    config: RunConfig, data: TrainingData, folder: Path, display: Display, train: Train
) -> TrainingData:
    """The training data with shortcuts marked in the gold pool and, if asked for, an augmented pool."""
    if not needs_shortcuts(config):
        return data
    if not data.gold_ids:
        raise ConfigError(
            f"method {config.method} with augment.kind={config.augment.kind}: shortcuts are found by comparing with "
            "gold rationales, and no training example may show one. Raise data.gold_share."
        )
    artefacts = folder / "artefacts"
    lazily = _Finder(config, data, artefacts / "un_rat", display, train)
    gold = _with_shortcuts(config, data, artefacts, display, lazily)
    marked = {example.id: example for example in gold}
    data = replace(data, train=tuple(marked.get(example.id, example) for example in data.train))
    if config.augment.kind == "none":
        return data
    return replace(data, augmented=_augmented(config, data, gold, artefacts, lazily))


class _Finder:
    """The paper's M_un: an Un-RAT trained on the examples without gold, when first asked for."""

    def __init__(
        self, config: RunConfig, data: TrainingData, folder: Path, display: Display, train: Train
    ) -> None:
        self.config, self.data, self.folder, self.display, self.train = config, data, folder, display, train
        self.engine: Engine | None = None

    def __call__(self) -> Engine:
        if self.engine is None:
            self.display.message("training un_rat on the examples without gold, to find shortcuts")
            self.engine = self.train(
                finder_config(self.config), finder_data(self.data), self.folder, self.display
            )
        return self.engine


def finder_config(config: RunConfig) -> RunConfig:
    """The settings that M_un is trained with."""
    chosen = config.shortcuts
    training = config.training.model_copy(update={"epochs": chosen.epochs or config.training.epochs})
    plain = RunConfig(
        method="un_rat",
        options=chosen.finder,
        seed=config.seed,
        data=config.data,
        encoder=config.encoder,
        training=training,
    )
    return resolve_options(plain)


def finder_data(data: TrainingData) -> TrainingData:
    """The pool that M_un learns from: the examples without gold, or all where every one has it."""
    gold = set(data.gold_ids)
    rest = tuple(example for example in data.train if example.id not in gold)
    return replace(data, train=rest or data.train, gold_ids=(), notes=())


def _with_shortcuts(
    config: RunConfig, data: TrainingData, artefacts: Path, display: Display, finder: Callable[[], Engine]
) -> list[Example]:
    """Gold examples with their shortcuts, from the artefact if it is there."""
    kept = set(data.gold_ids)
    gold = [example for example in data.train if example.id in kept]
    if config.shortcuts.source == "known":
        if not any(example.shortcuts for example in gold):
            raise ConfigError(
                "shortcuts.source is known, but no training example says where its shortcuts are."
            )
        return gold
    path = artefacts / "shortcuts.jsonl"
    if path.is_file():
        return list(read_jsonl(path))
    chosen = config.shortcuts
    found = discover(finder(), gold, min_run=chosen.min_run, require_correct=chosen.require_correct)
    if chosen.source == "random":
        found = random_shortcuts(found, config.seed)
    _report(found, gold, artefacts, display)
    marked = [replace(each.example, shortcuts=each.shortcuts) for each in found]
    write_jsonl(path, marked)
    return marked


def _report(found: Sequence[Discovered], gold: Sequence[Example], artefacts: Path, display: Display) -> None:
    numbers = statistics(found)
    if any(example.shortcuts is not None for example in gold):
        numbers["against_truth"] = against_truth(found, gold)
    write_json(artefacts / "shortcuts.json", numbers)
    display.message(
        f"shortcuts: {numbers['n_shortcuts']} in {numbers['n_with_shortcut']} of {numbers['n_examples']} examples"
    )
    for warning in numbers["warnings"]:
        display.message(f"warning: {warning}")


def _augmented(
    config: RunConfig,
    data: TrainingData,
    gold: Sequence[Example],
    artefacts: Path,
    finder: Callable[[], Engine],
) -> tuple[Example, ...]:
    path = artefacts / "augmented.jsonl"
    if not path.is_file():
        n = round(config.augment.share * len(data.train))
        model = finder() if config.augment.kind in {"semantic", "mixed"} else None
        write_jsonl(path, augment(config.augment.kind, gold, data.train, n, config.seed, model))
    return tuple(read_jsonl(path))
