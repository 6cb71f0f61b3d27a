"""A report as one HTML file: models, scores, curves and examples; no script, no network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from markupsafe import Markup

from rationalize.evaluation.evaluation import Evaluation
from rationalize.evaluation.verdict import Verdict, judge
from rationalize.files import write_text
from rationalize.reporting.detail_tables import make_class_table, make_confidence_table, make_health_table
from rationalize.reporting.highlight import ExplanationView, view_explanation
from rationalize.reporting.layers import Layer
from rationalize.reporting.marks import make_legend, to_html
from rationalize.reporting.plots import LogRows, draw_training
from rationalize.reporting.result_table import metric_table, warnings_of
from rationalize.reporting.table import Table
from rationalize.reporting.templating import render
from rationalize.reporting.wording import format_method
from rationalize.training.loop import read_epochs
from rationalize.types import Example, Explanation
from rationalize.version import __version__

OOD = "ood"
"""The split in which shortcuts fail."""
SHOWN = 8
"""Number of examples, and of mistakes, on the page of one model."""


@dataclass(frozen=True, slots=True)
class ExampleView:
    """One document, explained by each of several methods."""

    example: Example
    explanations: Mapping[str, Explanation]


@dataclass(frozen=True, slots=True)
class Report:
    """The content of a report; everything but the title is optional.

    Attributes:
        title: Title of the page.
        summary: A few sentences; an empty line starts a new paragraph.
        results: Evaluations by model, then by split.
        curves: By model: the epochs' rows of `metrics.jsonl` (`epoch`, `dev`, `losses`).
        examples: Documents to show.
        mistakes: The worst mistakes.
        config: The resolved config, as YAML.
        commands: The commands that made it.
        tables: Replace the tables of `results`.
        charts: More charts, besides the training curves.
        verdict: What the scores on dev say about the model, if it is one.
    """

    title: str
    summary: str = ""
    results: Mapping[str, Mapping[str, Evaluation]] = field(default_factory=dict)
    curves: Mapping[str, LogRows] = field(default_factory=dict)
    examples: Sequence[ExampleView] = ()
    mistakes: Sequence[ExampleView] = ()
    config: str = ""
    commands: Sequence[str] = ()
    tables: Sequence[Table] = ()
    charts: Sequence[Markup] = ()
    verdict: Verdict | None = None


@dataclass(frozen=True, slots=True)
class Card:
    """One method's explanation of a document, ready to show."""

    method: str
    view: ExplanationView
    text: Markup
    right: bool | None


@dataclass(frozen=True, slots=True)
class DocumentView:
    """One document and its cards, side by side."""

    example: Example
    cards: tuple[Card, ...]

    @property
    def wrong(self) -> bool:
        """Whether any method predicted a wrong label."""
        return any(card.right is False for card in self.cards)

    @property
    def disputed(self) -> bool:
        """Whether the methods predicted different labels."""
        return len({card.view.explanation.label for card in self.cards}) > 1


@dataclass(frozen=True, slots=True)
class Confusion:
    """A confusion matrix: for each true label, each predicted label's count and its share of the row."""

    title: str
    labels: Sequence[str]
    rows: Sequence[tuple[str, Sequence[tuple[int, float]]]]


def write_report(path: Path, report: Report) -> None:
    """Write the report as one self-contained HTML file, atomically."""
    write_text(path, render_report(report))


def render_report(report: Report) -> str:
    """Render the report as an HTML page."""
    splits = _group_by_split(report.results)
    last = list(splits)[-1:]
    flat = {f"{name}, {split}": each for split, results in splits.items() for name, each in results.items()}
    return render(
        "report.html.j2",
        report=report,
        paragraphs=[part for part in report.summary.split("\n\n") if part.strip()],
        warnings=warnings_of(flat),
        metrics=report.tables
        or [
            metric_table(each, title=_format_title(split, each), explained=[split] == last)
            for split, each in splits.items()
        ],
        classes=make_class_table(flat),
        health=make_health_table(flat),
        confidence=make_confidence_table(flat),
        drawn=report.charts,
        charts=draw_training(report.curves),
        confusions=list(_make_confusions(flat)),
        examples=[_view_document(each) for each in report.examples],
        mistakes=[_view_document(each) for each in report.mistakes],
        legend=[to_html(sample) for sample in make_legend(Layer)],
        version=__version__,
    )


def _group_by_split(results: Mapping[str, Mapping[str, Evaluation]]) -> dict[str, dict[str, Evaluation]]:
    """Group results by split, then by model; add the task F1 out of domain to the other splits."""
    splits: dict[str, dict[str, Evaluation]] = {}
    for name, by_split in results.items():
        for split, each in by_split.items():
            splits.setdefault(split, {})[name] = each if split == OOD else _add_ood(each, by_split.get(OOD))
    return splits


def _add_ood(result: Evaluation, ood: Evaluation | None) -> Evaluation:
    if ood is None:
        return result
    return replace(result, metrics={**result.metrics, "ood_task_f1_weighted": ood.task_f1_weighted})


def _format_title(split: str, results: Mapping[str, Evaluation]) -> str:
    sizes = " or ".join(str(count) for count in sorted({each.n_examples for each in results.values()}))
    return f"{split} ({sizes} examples)"


def _make_confusions(results: Mapping[str, Evaluation]) -> Iterator[Confusion]:
    for name, each in results.items():
        if counts := each.confusion:
            yield Confusion(
                name, list(counts), [(truth, _compute_shares(row)) for truth, row in counts.items()]
            )


def _compute_shares(counts: Mapping[str, int]) -> list[tuple[int, float]]:
    total = sum(counts.values()) or 1
    return [(count, count / total) for count in counts.values()]


def _view_document(given: ExampleView) -> DocumentView:
    example = given.example
    cards = []
    for method, explanation in given.explanations.items():
        shown = view_explanation(explanation, gold=example.rationale, shortcuts=example.shortcuts)
        right = None if example.label is None else explanation.label == example.label
        cards.append(Card(method, shown, to_html(shown.segments), right))
    return DocumentView(example, tuple(cards))


def make_run_report(folder: Path, result: Evaluation, command: str) -> Report:
    """Make the report of one model on one split; curves and settings need a run folder.

    Args:
        folder: A run folder, or the model folder inside it.
        result: The evaluation, with its explanations.
        command: The command to show in the report.
    """
    run = folder if (folder / "run.json").is_file() else folder.parent
    name = format_method(result.method, oracle_label=result.oracle_label)
    config, epochs = run / "config.resolved.yaml", read_epochs(run)
    pairs = [(item.encoded.example, item.explanation) for item in result.explained]
    return Report(
        title=f"{name} on {result.split}",
        summary=f"{result.n_examples} examples of {result.split}, explained by {name}.",
        results={name: {result.split: result}},
        curves={name: epochs} if epochs else {},
        examples=[ExampleView(example, {name: found}) for example, found in pairs[:SHOWN]],
        mistakes=[ExampleView(example, {name: found}) for example, found in find_worst_mistakes(pairs)],
        config=config.read_text(encoding="utf-8") if config.is_file() else "",
        commands=[command],
        verdict=judge(result),
    )


def find_worst_mistakes(
    pairs: Sequence[tuple[Example, Explanation]], n: int = SHOWN
) -> list[tuple[Example, Explanation]]:
    """Find the wrong labels with the highest probabilities, the highest first."""
    wrong = [(e, found) for e, found in pairs if e.label is not None and found.label != e.label]
    return sorted(wrong, key=lambda pair: -pair[1].probability)[:n]
