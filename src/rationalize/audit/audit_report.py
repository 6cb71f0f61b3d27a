"""Show an audit in the terminal, and as one HTML page without script or network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup
from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table as RichTable
from rich.text import Text

from rationalize.audit._finding_tables import (
    COLUMNS,
    COLUMNS_NOTE,
    WORDS,
    format_p_value,
    list_word_notes,
    make_column_table,
    make_word_table,
)
from rationalize.audit.audit_result import Audit, Context, Phrase
from rationalize.files import write_text
from rationalize.printable import to_one_line
from rationalize.reporting.layers import Layer, cut_segments
from rationalize.reporting.marks import make_legend, to_html
from rationalize.reporting.table import Column, Table, TableRow
from rationalize.reporting.templating import render
from rationalize.reporting.wording import Value
from rationalize.version import __version__

SUSPECTED = "Suspected shortcuts"
EVIDENCE = "Associated, probably evidence"
PHRASES_NOTE = (
    "docs: documents with the phrase; of the label, only where it is outside gold. share: its share of them, in "
    "percent; lift: that share / the label's share of all documents. p: two-sided hypergeometric test, "
    "Holm-corrected. cohesion: how fixed the phrase is."
)
FLIPS_NOTE = (
    "flips: documents whose predicted label changed when suspected phrases were replaced by random words."
)
SELECTED_NOTE = "selected: occurrences that the given model put in its rationale."


def make_phrase_table(phrases: Sequence[Phrase], title: str = "") -> Table:
    """Make a table with one row per phrase; unknown columns are left out."""
    columns: dict[Column, list[Value]] = {
        Column("phrase", "text"): [phrase.pattern for phrase in phrases],
        Column("label", "text"): [phrase.label for phrase in phrases],
        Column("docs", "count"): [phrase.documents for phrase in phrases],
        Column("share"): [phrase.share for phrase in phrases],
        Column("lift", "count"): [f"{phrase.lift:.2f}" for phrase in phrases],
        Column("p", "count"): [format_p_value(phrase.p_value) for phrase in phrases],
        Column("cohesion", "count"): [f"{phrase.cohesion:.2f}" for phrase in phrases],
        Column("in gold"): [phrase.gold_share for phrase in phrases],
        Column("flips"): [phrase.flipped for phrase in phrases],
        Column("selected"): [phrase.selected for phrase in phrases],
    }
    known = {column: values for column, values in columns.items() if any(each is not None for each in values)}
    rows = tuple(TableRow(values) for values in zip(*known.values(), strict=True))
    return Table(title, tuple(known), rows)


def make_accuracy_table(audit: Audit) -> Table | None:
    """Make a table of how well the label can be predicted; None if not tried."""
    accuracy = audit.accuracy
    if accuracy.phrases is None:
        return None
    rows = (
        TableRow(("commonest label", accuracy.majority)),
        TableRow(("suspected phrases alone", accuracy.phrases)),
        TableRow(("all words and pairs of words", accuracy.all_words)),
    )
    note = (
        f"Percent of documents, {audit.config.folds}-fold cross-validation; the phrases are chosen again in every "
        "fold, without its held-out documents."
    )
    return Table("Guessing the label", (Column("from", "text"), Column("accuracy")), rows, (note,))


def make_effect_table(audit: Audit) -> Table | None:
    """Make a table of how replacing changes predictions; None if nothing was replaced."""
    columns = (
        Column("replaced", "text"),
        Column("docs", "count"),
        Column("words changed"),
        Column("labels flipped"),
        Column("drop"),
    )
    rows = tuple(
        TableRow((each.replaced, each.documents, each.changed, each.flipped, each.drop))
        for each in audit.effects
    )
    note = (
        f"Percent. drop: mean decrease of the predicted label's probability. Predictions: {audit.predictor}."
    )
    return Table("Replacing", columns, rows, (note,)) if rows else None


def summarize_audit(audit: Audit) -> str:
    """Summarize the audited data in one line."""
    labels = ", ".join(f"{label} {count}" for label, count in audit.labels.items())
    return (
        f"{audit.documents} documents ({labels}), {audit.annotated} of them with a gold rationale; "
        f"{audit.tested} phrases of {audit.config.min_words} to {audit.config.max_words} words, {audit.tested_words} "
        f"words and {len(audit.columns)} columns tested"
    )


@dataclass(frozen=True)
class AuditView:
    """An audit in the terminal; rich can print it."""

    audit: Audit

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        audit = self.audit
        if audit.headline:
            yield Text(to_one_line(audit.headline), style="bold red")
        yield Text(to_one_line(f"{audit.name or 'audit'}: {summarize_audit(audit)}"))
        yield from (Text(to_one_line(note), style="yellow") for note in audit.notes)
        yield Text("")
        if columns := make_column_table(audit.columns, COLUMNS):
            yield _make_upright(columns)
            yield Text(COLUMNS_NOTE, style="dim")
            yield Text("")
        for phrases, title in ((audit.suspected, SUSPECTED), (audit.evidence, EVIDENCE)):
            if phrases:
                yield _make_upright(make_phrase_table(phrases, title))
                yield Text("")
        if words := make_word_table(audit.words, WORDS):
            yield _make_upright(words)
            yield from (Text(note, style="dim") for note in list_word_notes(audit))
            yield Text("")
        yield from (table for table in (make_accuracy_table(audit), make_effect_table(audit)) if table)
        yield Text("")
        yield Text(to_one_line(audit.verdict), style="bold")
        yield Text(to_one_line(audit.caution), style="dim")


def _make_upright(table: Table) -> RichTable:
    """Make a rich table whose wide first column wraps, instead of turning the table on its side."""
    shown = RichTable(
        title=Text(table.title, style="bold"),
        title_justify="left",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    for index, column in enumerate(table.columns):
        justify = "left" if column.kind == "text" else "right"
        shown.add_column(Text(column.title), justify=justify, no_wrap=index > 0, overflow="fold")  # type: ignore[arg-type]
    for row in table.format_rows():
        shown.add_row(*(Text(text) for text, _ in row.cells))
    return shown


@dataclass(frozen=True)
class ContextView:
    """An example of a phrase, ready to show."""

    id: str
    label: str
    text: Markup


@dataclass(frozen=True)
class PhraseView:
    """A phrase with its examples, ready to show."""

    phrase: Phrase
    fillers: tuple[str, ...]
    contexts: tuple[ContextView, ...]


def render_audit(audit: Audit, command: str = "") -> str:
    """Render the audit as an HTML page."""
    tables = [table for table in (make_accuracy_table(audit), make_effect_table(audit)) if table]
    suspected, evidence = audit.suspected, audit.evidence
    return render(
        "audit.html.j2",
        audit=audit,
        facts=summarize_audit(audit),
        command=command,
        suspected=make_phrase_table(suspected) if suspected else None,
        evidence=make_phrase_table(evidence) if evidence else None,
        columns=make_column_table(audit.columns),
        columns_note=COLUMNS_NOTE,
        words=make_word_table(audit.words),
        words_notes=list_word_notes(audit),
        notes=list(_list_notes(audit)),
        tables=tables,
        shown=[_view_phrase(phrase) for phrase in suspected],
        legend=[to_html(sample) for sample in make_legend([Layer.SHORTCUT, Layer.GOLD])],
        version=__version__,
    )


def _list_notes(audit: Audit) -> Iterator[str]:
    if audit.suspected or audit.evidence:
        yield PHRASES_NOTE
    if any(phrase.flipped is not None for phrase in audit.suspected):
        yield FLIPS_NOTE
    if any(phrase.selected is not None for phrase in audit.suspected):
        yield SELECTED_NOTE
    if audit.more_evidence:
        yield f"{audit.more_evidence} more phrases, probably evidence, are not listed."


def write_audit(path: Path, audit: Audit, command: str = "") -> None:
    """Write the audit as one self-contained HTML file, atomically."""
    write_text(path, render_audit(audit, command))


def _view_phrase(phrase: Phrase) -> PhraseView:
    contexts = tuple(ContextView(each.id, each.label, _mark(each)) for each in phrase.contexts)
    return PhraseView(phrase, tuple(", ".join(each) for each in phrase.fillers), contexts)


def _mark(context: Context) -> Markup:
    return to_html(cut_segments(context.text, {Layer.SHORTCUT: context.shortcuts, Layer.GOLD: context.gold}))
