"""Show results of the `data` commands in a terminal. Text from data is never read as markup."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager

from rich.progress import MofNCompleteColumn, Progress
from rich.table import Table
from rich.text import Text as RichText

from rationalize.data.conversion import Conversion, Watch
from rationalize.data.dataset import SplitPeople
from rationalize.data.stats import DataStats, SplitStats
from rationalize.data.validate import CheckReport
from rationalize.printable import to_one_line
from rationalize.reporting.terminal import make_console
from rationalize.types import Example


def _text(text: str, style: str = "") -> RichText:
    return RichText(to_one_line(text), style=style)


_AGREEMENT = {
    "marked_texts": "rows that two or more marked",
    "token_f1": "words: F1 between people",
    "token_kappa": "words: Cohen's kappa",
    "token_alpha": "words: Krippendorff's alpha",
    "labeled_texts": "rows that two or more labeled",
    "label_match": "labels: equal pairs",
    "label_kappa": "labels: Cohen's kappa",
    "label_alpha": "labels: Krippendorff's alpha",
}
_COLORS = {"error": "red", "warning": "yellow"}


def show_check(report: CheckReport) -> None:
    """Print counts by split, then the problems, then the verdict."""
    console = make_console(wide=True)
    console.print(_text(f"{report.path} ({report.format}, {report.words} words)", style="bold"))
    if report.splits:
        console.print(_make_check_table(report))
    if report.problems:
        console.print(_make_problem_table(report))
    if settings := sorted({problem.setting for problem in report.problems} - {""}):
        from rationalize.cli.main import FLAGS

        console.print(_text("; ".join(f"{setting} is {FLAGS[setting]}" for setting in settings)))
    for severity, kind, times in report.counts:
        console.print(_text(f"{severity}: {kind} × {times}", style=_COLORS[severity]))
    _show_notes(report.notes)
    counts = f"errors: {report.errors}, warnings: {report.warnings}"
    console.print(_text(f"{counts}. {_judge(report)}.", style="bold"))


def _judge(report: CheckReport) -> str:
    if not report.ok:
        return "Not usable as it stands"
    if not report.trainable:
        return "Ready to score or to explain, not to train on"
    gold = any(split.stats.annotated > split.stats.without_gold for split in report.splits.values())
    return "Ready to train on" + ("" if gold else ", by methods that need no gold rationales")


def show_stats(figures: DataStats) -> None:
    """Print one column for each split."""
    console = make_console(wide=True)
    table = _make_table(_text(f"{figures.name} ({figures.words} words)"), "", *figures.splits)
    for name, cells in _make_stats_rows(list(figures.splits.values())):
        table.add_row(name, *map(_text, cells))
    console.print(table)
    for pair, shared in figures.shared_documents.items():
        console.print(_text(f"documents shared by {pair}: {shared}"))
    if any(people.agreement for people in figures.people.values()):
        console.print(_make_people_table(figures.people))
    _show_notes(figures.notes)


def _make_people_table(splits: Mapping[str, SplitPeople]) -> Table:
    table = _make_table(_text("agreement between people"), "", *splits)
    agreements = [each.agreement for each in splits.values()]
    people = [
        ", ".join(f"{name} {rows}" for name, rows in each.annotators.items()) for each in splits.values()
    ]
    table.add_row("people, rows of each", *map(_text, people))
    for name, title in _AGREEMENT.items():
        found = [getattr(each, name) if each else None for each in agreements]
        cells = [str(value) if isinstance(value, int) else _format_exact(value) for value in found]
        table.add_row(title, *map(_text, cells))
    return table


def _show_notes(notes: Mapping[str, int]) -> None:
    for note, times in notes.items():
        make_console(wide=True).print(_text(f"note: {note}{f' × {times}' if times > 1 else ''}", style="dim"))


def show_conversion(done: Conversion) -> None:
    """Print what was written, and what could not be kept."""
    console = make_console(wide=True)
    rows = ", ".join(f"{split} {count}" for split, count in done.rows.items())
    console.print(_text(f"wrote {done.out}: {rows} rows"))
    for change, times in done.changes.items():
        console.print(_text(f"note: {change} × {times}", style="yellow"))


@contextmanager
def show_progress() -> Iterator[Watch]:
    """Yield a watcher that shows a progress bar for each split on standard error."""
    console = make_console(stderr=True)
    columns = (*Progress.get_default_columns(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        progress.add_task("reading", total=None)

        def watch(split: str, examples: Collection[Example]) -> Iterable[Example]:
            return progress.track(examples, description=f"writing {split}")

        yield watch


def _make_table(title: RichText | None, *columns: str) -> Table:
    table = Table(title=title, title_justify="left")
    for index, column in enumerate(columns):
        table.add_column(_text(column), justify="right" if index else "left", overflow="fold")
    return table


def _make_check_table(report: CheckReport) -> Table:
    table = _make_table(
        None, "split", "read", "kept", "rejected", "labels", "words", "gold share", "gold lost"
    )
    for name, split in report.splits.items():
        lost, cut = "", split.truncation
        if cut and cut.gold_words:
            lost = f"{cut.gold_words_lost / cut.gold_words:.1%}"
        counts = (str(split.read), str(split.kept), str(split.rejected))
        words, gold = f"{split.stats.words_mean:.0f}", _format_percent(split.stats.gold_fraction)
        table.add_row(*map(_text, (name, *counts, _format_labels(split.stats), words, gold, lost)))
    return table


def _make_problem_table(report: CheckReport) -> Table:
    total = report.errors + report.warnings
    shown = f"problems ({total} in all)" if total > len(report.problems) else "problems"
    table = Table(title=_text(shown), title_justify="left")
    for column in ("where", "field", "problem", "seen", "expected"):
        table.add_column(column, overflow="fold")
    for problem in report.problems:
        kind = _text(problem.kind, style=_COLORS[problem.severity])
        place, seen = (text.replace(f"{report.path}/", "") for text in (problem.place, problem.seen))
        table.add_row(_text(place), _text(problem.field), kind, _text(seen), _text(problem.expected))
    return table


def _make_stats_rows(splits: list[SplitStats]) -> list[tuple[str, list[str]]]:
    return [
        ("rows", [str(split.rows) for split in splits]),
        ("labels", [_format_labels(split) for split in splits]),
        ("with a query", [str(split.queries) for split in splits]),
        ("documents", [str(split.documents) for split in splits]),
        ("words, mean", [f"{split.words_mean:.1f}" for split in splits]),
        ("words, median", [f"{split.words_median:.0f}" for split in splits]),
        ("words, most", [str(split.words_max) for split in splits]),
        ("annotated rows", [str(split.annotated) for split in splits]),
        ("… without gold", [str(split.without_gold) for split in splits]),
        ("gold share", [_format_percent(split.gold_fraction) for split in splits]),
        ("gold spans per row", [_format_number(split.spans_per_row) for split in splits]),
        ("words per gold span", [_format_number(split.span_words_mean) for split in splits]),
    ]


def _format_labels(split: SplitStats) -> str:
    return ", ".join(f"{label} {count}" for label, count in split.labels.items())


def _format_percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"


def _format_number(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _format_exact(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
