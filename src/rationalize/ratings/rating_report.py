"""Show ratings: tables for the terminal, and one HTML page without script or network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from rationalize.files import write_text
from rationalize.ratings.rating_store import RatingStore
from rationalize.ratings.rating_summary import ALPHA, PEOPLE, Summary, summarize_ratings
from rationalize.ratings.study import Study, open_key, open_study
from rationalize.reporting.table import Column, Table, TableRow
from rationalize.reporting.templating import render
from rationalize.version import __version__

SCORES_NOTE = (
    "Grades from 1 to 5, mean ± standard deviation over items; an item's grade is the mean over its raters. "
    "items: number of rated rationales; grades: number of grades they got."
)
AGREEMENT_NOTE = (
    f"alpha: {ALPHA}; 1 is perfect, 0 is chance. Between people and a language model, alpha and Spearman's rank "
    "correlation compare item means. – means undefined: constant grades, too few shared items, or (Spearman) not "
    "exactly two raters."
)
COMPARISON_NOTE = (
    "Paired over the examples whose rationales by both models were rated. difference: first minus second, with its "
    "95 % bootstrap interval; p: paired permutation test, two-sided; p (Holm): corrected over all comparisons of "
    "the same raters."
)


def report_ratings(folder: Path, *, key: Path | None = None, page: Path | None = None) -> Summary:
    """Summarize the ratings of a study.

    Args:
        folder: The study.
        key: The key, if it is not `key.json` in the folder.
        page: Where to write an HTML page; None: nowhere.
    """
    study = open_study(folder)
    store = RatingStore(study)
    summary = summarize_ratings(study, open_key(study, key), store.read_ratings(), store.read_failures())
    if page is not None:
        write_rating_report(page, study, summary)
    return summary


def make_score_tables(summary: Summary) -> Iterator[Table]:
    """Yield one table per group of raters: a row per model, its mean for each question."""
    for group in summary.groups:
        found = {(each.model, each.question): each for each in summary.scores if each.group == group}
        rows = []
        for model in summary.models:
            own = [found.get((model, question)) for question in summary.questions]
            if not any(own):
                continue
            written = [_format_mean(each.mean, each.sd) if each else None for each in own]
            items = [each.n if each else 0 for each in own]
            fewest, most = min(items), max(items)
            rated = most if fewest == most else f"{fewest}–{most}"
            rows.append(TableRow((model, *written, rated, sum(each.grades for each in own if each))))
        columns = _make_columns(("model",), (*summary.questions, "items", "grades"))
        notes = (SCORES_NOTE,) if group == summary.groups[-1] else ()
        yield Table(f"Grades by {_name_raters(summary, group)}", columns, tuple(rows), notes)


def _make_columns(texts: Iterable[str], numbers: Iterable[str]) -> tuple[Column, ...]:
    return *(Column(name, "text") for name in texts), *(Column(name, "count") for name in numbers)


def _format_mean(mean: float, sd: float | None) -> str:
    return f"{mean:.2f}" if sd is None else f"{mean:.2f} ± {sd:.2f}"


def _name_raters(summary: Summary, group: str) -> str:
    people = [rater for rater in summary.raters if rater not in summary.groups]
    return f"people ({', '.join(people)})" if group == PEOPLE else group


def make_agreement_table(summary: Summary) -> Table | None:
    """Make a table of agreement between raters; None without shared items."""
    columns = _make_columns(("between", "question"), ("alpha", "Spearman", "items"))
    rows = [
        TableRow((each.between, each.question, _format_two(each.alpha), _format_two(each.spearman), each.n))
        for each in summary.agreements
    ]
    return Table("Agreement", columns, tuple(rows), (AGREEMENT_NOTE,)) if rows else None


def _format_two(value: float | None) -> str | None:
    return None if value is None else f"{value:.2f}"


def make_comparison_table(summary: Summary) -> Table | None:
    """Make a table of differences between models; None without two models to compare."""
    numbers = ("difference", "95 % interval", "p", "p (Holm)", "examples")
    columns = _make_columns(("models", "question", "raters"), numbers)
    rows = [
        TableRow(
            (
                f"{each.first} – {each.second}",
                each.question,
                each.group,
                f"{each.difference:+.2f}",
                f"{each.low:+.2f} to {each.high:+.2f}",
                f"{each.p_value:.3g}",
                f"{each.p_holm:.3g}",
                each.n,
            )
        )
        for each in summary.comparisons
    ]
    return Table("Differences between models", columns, tuple(rows), (COMPARISON_NOTE,)) if rows else None


def make_rating_tables(summary: Summary) -> list[Table]:
    """Make all tables that are not empty."""
    more = [make_agreement_table(summary), make_comparison_table(summary)]
    return [*make_score_tables(summary), *(table for table in more if table)]


def list_progress(summary: Summary) -> list[str]:
    """List each rater's progress, and the number of failures."""
    lines = [f"{rater}: {done} of {summary.items} items" for rater, done in summary.raters.items()]
    failed = len(summary.failures)
    return lines + (
        [f"{failed} item(s) failed; run `rationalize rate llm` again to retry."] if failed else []
    )


def write_rating_report(path: Path, study: Study, summary: Summary) -> None:
    """Write the report as one self-contained HTML file, atomically."""
    page = render(
        "rating_report.html.j2",
        info=study.info,
        tables=make_rating_tables(summary),
        progress=list_progress(summary),
        version=__version__,
    )
    write_text(path, page)
