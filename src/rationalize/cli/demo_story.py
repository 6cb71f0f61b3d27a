"""The demo: a corpus with a planted shortcut, and which methods fall for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rationalize.config import RunConfig, Settings, to_yaml
from rationalize.data.planted import PlantedConfig, build_corpus
from rationalize.evaluation.evaluation import Evaluation
from rationalize.files import read_json, write_json
from rationalize.rationalizer import Rationalizer
from rationalize.reporting.plots import LogRows
from rationalize.reporting.report import ExampleView, Report, write_report
from rationalize.runs.settings import load_config
from rationalize.training.loop import read_epochs
from rationalize.types import Example, Explanation

METHODS: dict[str, Settings] = {
    "un_rat": {"method": "un_rat"},
    "semi_rat": {"method": "semi_rat"},
    "ssr_unif+DA": {"method": "ssr_unif", "augment.kind": "semantic"},
    "ssr_virt+DA": {"method": "ssr_virt", "augment.kind": "semantic"},
}
"""Settings by the name to show. SSR uses semantic augmentation (DA), its best variant in the paper."""
SETTINGS: Settings = {
    "encoder.name": "tiny",
    "encoder.hidden_size": 64,
    "encoder.max_tokens": 256,
    "data.gold_share": 0.25,
    "training.learning_rate": 0.001,
    "training.batch_size": 32,
    "training.epochs": 5,
    "options.selection.sampler": "gumbel_hard",
    "options.selection.share": 0.15,
}
SIZES = {"train": 1500, "dev": 200, "test": 300, "ood": 300}  # enough to learn from, within minutes
QUICK = {"train": 200, "dev": 40, "test": 40, "ood": 40}
SHOWN = 6
SHOWN_METHOD = "ssr_unif+DA"  # whose discovered shortcuts are shown


@dataclass(frozen=True)
class Discovery:
    """Shortcuts discovered in the annotated examples.

    Attributes:
        n_examples: Number of annotated examples.
        n_with_shortcut: Number of them with a shortcut.
        n_shortcuts: Number of shortcuts.
        phrases: The commonest phrases, and how often each was found.
        precision: Precision of their words against the planted ones; None: nothing was found.
        recall: Recall of the planted words; None: nothing was planted.
    """

    n_examples: int
    n_with_shortcut: int
    n_shortcuts: int
    phrases: tuple[tuple[str, int], ...]
    precision: float | None
    recall: float | None


@dataclass(frozen=True)
class Demo:
    """Results of the demo.

    Attributes:
        results: Evaluations by method and split.
        discovery: The discovered shortcuts.
        views: The shown documents with every method's explanation.
        report: Where the report is.
    """

    results: dict[str, dict[str, Evaluation]]
    discovery: Discovery
    views: list[ExampleView]
    report: Path


def run_demo(
    folder: Path,
    *,
    seed: int = 0,
    quick: bool = False,
    announce: Callable[[str], None] = lambda text: None,
) -> Demo:
    """Make the corpus, train every method, score in and out of distribution, write the report.

    An interrupted demo continues where it stopped. `quick` makes everything small, to see that it works.
    """
    sizes = QUICK if quick else SIZES
    corpus = build_corpus(PlantedConfig(seed=seed, sizes=sizes))
    results: dict[str, dict[str, Evaluation]] = {}
    curves = {}
    for name in METHODS:
        announce(f"{name}: training on {len(corpus['train'])} documents")
        # Both SSR variants use the same discovered shortcuts, so the runs share a cache.
        config = make_demo_config(name, seed, quick=quick, cache=folder / "artifacts")
        model = Rationalizer.from_config(config).fit(corpus, folder=folder / name, resume=True)
        results[name] = {split: model.evaluate(corpus, split) for split in ("test", "ood")}
        rows = {split: found.to_dict() for split, found in results[name].items()}
        write_json(folder / name / "results.json", rows)
        curves[name] = read_epochs(folder / name)
    discovery = _read_discovery(folder / SHOWN_METHOD / "artifacts" / "shortcuts.json")
    views = _collect_views(corpus["ood"][:SHOWN], {name: found["ood"] for name, found in results.items()})
    report = folder / "report.html"
    write_report(report, _report(results, discovery, curves, views, to_yaml(config), seed))
    return Demo(results, discovery, views, report)


def _collect_views(examples: Sequence[Example], results: Mapping[str, Evaluation]) -> list[ExampleView]:
    explanations: dict[str, dict[str | None, Explanation]] = {
        name: {item.explanation.id: item.explanation for item in found.explained}
        for name, found in results.items()
    }
    return [
        ExampleView(each, {name: found[each.id] for name, found in explanations.items()}) for each in examples
    ]


def _read_discovery(path: Path) -> Discovery:
    row = read_json(path)
    return Discovery(
        n_examples=row["n_examples"],
        n_with_shortcut=row["n_with_shortcut"],
        n_shortcuts=row["n_shortcuts"],
        phrases=tuple((each["phrase"], each["n"]) for each in row["phrases"]),
        precision=row["against_truth"]["precision"],
        recall=row["against_truth"]["recall"],
    )


def make_demo_config(method: str, seed: int, *, quick: bool = False, cache: Path | str = "auto") -> RunConfig:
    """Return the settings of one method in the demo."""
    small = {"training.epochs": 2, "encoder.hidden_size": 32, "encoder.layers": 1} if quick else {}
    chosen = {**METHODS[method], "seed": seed, "training.cache": str(cache), **SETTINGS, **small}
    return load_config(None, chosen)


def _report(
    results: Mapping[str, Mapping[str, Evaluation]],
    discovery: Discovery,
    curves: Mapping[str, LogRows],
    views: list[ExampleView],
    config: str,
    seed: int,
) -> Report:
    summary = (
        "Reviews written by a grammar. Opinions decide the label and are the gold rationale; planted phrases agree "
        "with the label nine times in ten in training and test, and one time in ten in the split ood. "
        "A method that relies on them does well on test and fails on ood.\n\n"
        f"Discovery compared Un-RAT's selection with the gold rationale in {discovery.n_examples} annotated "
        f"documents, and found {discovery.n_shortcuts} shortcut phrases in {discovery.n_with_shortcut} of them. "
        "The commonest: " + "; ".join(f"“{phrase}”" for phrase, _ in discovery.phrases[:5]) + ". "
        "SSR learns not to use them, also from copies of these documents in which near words replace them (DA)."
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
