"""One HTML file that tells what was trained, how well it does, and shows it: no script, no network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from markupsafe import Markup

from rationalize.files import write_text
from rationalize.reporting.curves import curve_charts
from rationalize.reporting.highlight import ExplanationView, view
from rationalize.reporting.layers import Layer
from rationalize.reporting.marks import legend, to_html
from rationalize.reporting.metric_table import Results, Table, health_table, metric_table, warnings_of
from rationalize.reporting.templating import render
from rationalize.types import Example, Explanation
from rationalize.version import __version__

OOD = "ood"
"""The split whose shortcuts do not hold."""


@dataclass(frozen=True, slots=True)
class ExampleView:
    """One document, explained by each of several methods."""

    example: Example
    explanations: Mapping[str, Explanation]


@dataclass(frozen=True, slots=True)
class Report:
    """What goes into a report; everything but the title may be left out.

    Attributes:
        title: At the top.
        summary: A few sentences; an empty line starts a new paragraph.
        results: By model: results of one split, or results by split.
        curves: By model: the epochs' rows of `metrics.jsonl` (`epoch`, `dev`, `losses`).
        examples: Documents to show.
        mistakes: The worst mistakes.
        config: The resolved config, as YAML.
        commands: The commands that made it.
        tables: To show in place of those that the results make.
        charts: To show beside the training curves.
    """

    title: str
    summary: str = ""
    results: Mapping[str, Results | Mapping[str, Results]] = field(default_factory=dict)
    curves: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    examples: Sequence[ExampleView] = ()
    mistakes: Sequence[ExampleView] = ()
    config: str = ""
    commands: Sequence[str] = ()
    tables: Sequence[Table] = ()
    charts: Sequence[Markup] = ()


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
        """Whether any method gave a wrong label."""
        return any(card.right is False for card in self.cards)

    @property
    def disputed(self) -> bool:
        """Whether the methods gave different labels."""
        return len({card.view.explanation.label for card in self.cards}) > 1


@dataclass(frozen=True, slots=True)
class Confusion:
    """A confusion matrix: for each true label, each predicted label's count and its share of the row."""

    title: str
    labels: Sequence[str]
    rows: Sequence[tuple[str, Sequence[tuple[int, float]]]]


def write_report(path: Path, report: Report) -> None:
    """Write the report as one self-contained HTML file, atomically."""
    write_text(path, report_html(report))


def report_html(report: Report) -> str:
    """The report as an HTML page."""
    splits = _by_split(report.results)
    last = list(splits)[-1:]
    flat = {_name(name, split): each for split, results in splits.items() for name, each in results.items()}
    return render(
        "report.html.j2",
        report=report,
        paragraphs=[part for part in report.summary.split("\n\n") if part.strip()],
        warnings=warnings_of(flat),
        metrics=report.tables
        or [
            metric_table(each, title=_table_title(split, each), explained=[split] == last)
            for split, each in splits.items()
        ],
        health=health_table(flat),
        drawn=report.charts,
        charts=curve_charts(report.curves),
        confusions=list(_confusions(flat)),
        examples=[_document(each) for each in report.examples],
        mistakes=[_document(each) for each in report.mistakes],
        legend=[to_html(sample) for sample in legend(Layer)],
        version=__version__,
    )


def _by_split(results: Mapping[str, Results | Mapping[str, Results]]) -> dict[str, dict[str, Results]]:
    """Results by split, then by model; the others' task F1 out of domain stands beside their own."""
    splits: dict[str, dict[str, Results]] = {}
    for name, given in results.items():
        by_split = {str(given.get("split", "")): given} if "metrics" in given else given
        for split, each in by_split.items():
            splits.setdefault(split, {})[name] = each if split == OOD else _add_ood(each, by_split.get(OOD))
    return splits


def _add_ood(results: Results, ood: Results | None) -> Results:
    if ood is None:
        return results
    beside = {"ood_task_f1_weighted": ood["metrics"].get("task_f1_weighted")}
    return {**results, "metrics": {**results["metrics"], **beside}}


def _table_title(split: str, results: Mapping[str, Results]) -> str:
    counts = {each["n_examples"] for each in results.values() if each.get("n_examples") is not None}
    sizes = " or ".join(str(count) for count in sorted(counts))
    return f"{split or 'Results'} ({sizes} examples)" if sizes else split or "Results"


def _name(model: str, split: str) -> str:
    return f"{model}, {split}" if split else model


def _confusions(results: Mapping[str, Results]) -> Iterator[Confusion]:
    for name, each in results.items():
        counts = each.get("confusion")
        if counts:
            yield Confusion(name, list(counts), [(truth, _shares(row)) for truth, row in counts.items()])


def _shares(counts: Mapping[str, int]) -> list[tuple[int, float]]:
    total = sum(counts.values()) or 1
    return [(count, count / total) for count in counts.values()]


def _document(given: ExampleView) -> DocumentView:
    example = given.example
    cards = []
    for method, explanation in given.explanations.items():
        shown = view(explanation, gold=example.rationale, shortcuts=example.shortcuts)
        right = None if example.label is None else explanation.label == example.label
        cards.append(Card(method, shown, to_html(shown.segments), right))
    return DocumentView(example, tuple(cards))
