"""The story in one command: a corpus with a planted shortcut, who falls for it and who does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rationalize.config import RunConfig, Settings, to_yaml
from rationalize.data.planted import PlantedConfig, corpus_of
from rationalize.evaluation.scoring import evaluate
from rationalize.files import read_json, write_json
from rationalize.inference.engine import Engine
from rationalize.reporting.card import render_card
from rationalize.reporting.report import ExampleView, Report, write_report
from rationalize.runs.run import train
from rationalize.runs.settings import load_config
from rationalize.runs.training_data import make_training_data
from rationalize.training.loop import Display, read_epochs
from rationalize.types import Example

METHODS: dict[str, Settings] = {
    "un_rat": {"method": "un_rat"},
    "semi_rat": {"method": "semi_rat"},
    "ssr_unif+DA": {"method": "ssr_unif", "augment.kind": "semantic"},
    "ssr_virt+DA": {"method": "ssr_virt", "augment.kind": "semantic"},
}
"""By the name to show: the settings. SSR as the paper has it at its best, with semantic augmentation (DA)."""
SETTINGS: Settings = {
    "encoder.name": "tiny",
    "encoder.hidden_size": 64,
    "encoder.max_tokens": 256,
    "training.learning_rate": 0.001,
    "training.batch_size": 32,
    "training.epochs": 5,
    "options.selection.sampler": "gumbel_hard",
    "options.selection.share": 0.15,
}
SIZES = {"train": 1500, "val": 200, "test": 300, "ood": 300}  # enough to learn from, within minutes
QUICK = {"train": 200, "val": 40, "test": 40, "ood": 40}
SHOWN = 6

Splits = Mapping[str, Sequence[Example]]


@dataclass(frozen=True)
class Demo:
    """What the demo found.

    Attributes:
        results: By method and split.
        shortcuts: What discovery found in the annotated examples (statistics).
        views: The shown documents with every method's explanation.
        report: Where the report is.
    """

    results: dict[str, dict[str, Any]]
    shortcuts: dict[str, Any]
    views: list[ExampleView]
    report: Path


def run_demo(folder: Path, display: Callable[[], Any], *, seed: int = 0, quick: bool = False) -> Demo:
    """Make the corpus, train every method, score in and out of distribution, write the report.

    Interrupted, it goes on where it stopped. `quick` makes everything small, to see that it works.
    """
    sizes = QUICK if quick else SIZES
    corpus = corpus_of(PlantedConfig(seed=seed, sizes=sizes))
    results: dict[str, dict[str, Any]] = {}
    shown: dict[str, dict[str, Any]] = {}
    curves = {}
    for name in METHODS:
        config = demo_config(name, seed, quick=quick)
        with display() as screen:
            engine = _train(config, corpus, folder / name, screen)
        explained = {split: list(engine.explain(corpus[split])) for split in ("test", "ood")}
        results[name] = {split: evaluate(items, split=split, seed=seed) for split, items in explained.items()}
        write_json(folder / name / "results.json", results[name])
        shown[name] = {str(item.explanation.id): item.explanation for item in explained["ood"]}
        curves[name] = read_epochs(folder / name)
    views = [
        ExampleView(example, {name: shown[name][example.id] for name in METHODS})
        for example in corpus["ood"][:SHOWN]
    ]
    shortcuts = read_json(folder / "artifacts" / "shortcuts.json")
    report = folder / "report.html"
    write_report(report, _report(results, shortcuts, curves, views, to_yaml(config), seed))
    return Demo(results, shortcuts, views, report)


def demo_config(method: str, seed: int, *, quick: bool = False) -> RunConfig:
    """The settings of one method in the demo."""
    small = {"training.epochs": 2, "encoder.hidden_size": 32, "encoder.layers": 1} if quick else {}
    return load_config(None, {**METHODS[method], "seed": seed, **SETTINGS, **small})


def _train(config: RunConfig, corpus: Splits, folder: Path, display: Display) -> Engine:
    """Both strategies of SSR work on the same discovered shortcuts, so all runs share one place for artifacts."""
    display.message(f"{config.method}: training on {len(corpus['train'])} documents")
    data = make_training_data(config, corpus["train"], corpus["val"])
    shared = folder.parent / "artifacts"
    return train(config, data, folder, display, resume=True, artifacts=shared, card=render_card).engine()


def _report(
    results: dict[str, dict[str, Any]],
    shortcuts: dict[str, Any],
    curves: dict[str, list[dict[str, Any]]],
    views: list[ExampleView],
    config: str,
    seed: int,
) -> Report:
    summary = (
        "Reviews written by a grammar. Opinions decide the label and are the gold rationale; planted phrases agree "
        "with the label nine times in ten in training and test, and the other way round in the split ood. "
        "A method that leans on them does well on test and falls on ood.\n\n"
        f"Discovery compared what Un-RAT selects with what people marked in {shortcuts['n_examples']} annotated "
        f"documents, and found {shortcuts['n_shortcuts']} shortcut phrases in {shortcuts['n_with_shortcut']} of them. "
        "The commonest: " + "; ".join(f"“{row['phrase']}”" for row in shortcuts["phrases"][:5]) + ". "
        "SSR learns not to decide on them, also from copies of these documents in which they are replaced by near "
        "words (DA)."
    )
    return Report(
        title="rationalize: who falls for the shortcut?",
        summary=summary,
        results=results,
        curves=curves,
        examples=views,
        config=config,
        commands=[f"rationalize demo --seed {seed}"],
    )
