"""Tables of columns and of single words."""

from __future__ import annotations

from collections.abc import Sequence

from rationalize.audit.audit_findings import LeaningColumn, LeaningWord
from rationalize.audit.audit_result import Audit
from rationalize.reporting.table import Column, Table, TableRow
from rationalize.reporting.wording import Value

LEAST_P = 1e-300
HARDLY = 0.95
MOST_COLUMNS = 12
SHOWN_VALUES = 3
COLUMNS = "Columns that tell about the label"
WORDS = "Words that go with a label"
COLUMNS_NOTE = (
    "guessed: percent of documents whose label the column alone gives, on held-out folds; gain: that minus the "
    "percent of the commonest label. p: sign test of the two, Holm-corrected. leaning: values that correlate with a "
    "label, with the label's percentage and the documents. text: measured on the whole text, gold included."
)
WORDS_NOTE = (
    "Outside gold rationales and suspected phrases. A word can be evidence or a shortcut: a person must judge. "
    "Words for groups of people (*) come first: in data on abuse they are the usual shortcut."
)


def make_column_table(columns: Sequence[LeaningColumn], title: str = "") -> Table | None:
    """Make a table of the columns that are suspected, or have values that lean; None without any."""
    shown = [column for column in columns if column.suspected or column.leaning][:MOST_COLUMNS]
    known: dict[Column, list[Value]] = {
        Column("column", "text"): [("text: " if each.measured else "") + each.name for each in shown],
        Column("values", "count"): [each.values for each in shown],
        Column("guessed"): [each.accuracy for each in shown],
        Column("gain"): [None if each.accuracy is None else each.gain for each in shown],
        Column("p", "count"): [
            None if each.p_value is None else format_p_value(each.p_value) for each in shown
        ],
        Column("leaning", "text"): [_describe_values(each) for each in shown],
    }
    rows = tuple(TableRow(values) for values in zip(*known.values(), strict=True))
    return Table(title, tuple(known), rows) if rows else None


def make_word_table(words: Sequence[LeaningWord], title: str = "") -> Table | None:
    """Make a table with one row per word; None without any."""
    known: dict[Column, list[Value]] = {
        Column("word", "text"): [f"{each.word} *" if each.identity else each.word for each in words],
        Column("label", "text"): [each.label for each in words],
        Column("docs", "count"): [each.documents for each in words],
        Column("share"): [each.share for each in words],
        Column("lift", "count"): [f"{each.lift:.2f}" for each in words],
        Column("p", "count"): [format_p_value(each.p_value) for each in words],
        Column("in gold"): [each.gold_share for each in words],
    }
    filled = {column: values for column, values in known.items() if any(each is not None for each in values)}
    rows = tuple(TableRow(values) for values in zip(*filled.values(), strict=True))
    return Table(title, tuple(filled), rows) if rows else None


def list_word_notes(audit: Audit) -> list[str]:
    """Return what must be known to read the table of words."""
    more = [f"{audit.more_words} more words are not listed."] if audit.more_words else []
    return [WORDS_NOTE, *more]


def format_p_value(p_value: float) -> str:
    """Format a p-value briefly; tiny ones have rounded to 0."""
    if p_value >= HARDLY:
        return "1"
    return f"{p_value:.0e}" if p_value > LEAST_P else f"<{LEAST_P:.0e}"


def _describe_values(column: LeaningColumn) -> str:
    return "; ".join(
        f"{each.value}: {each.label} {each.share:.0%} of {each.documents}"
        for each in column.leaning[:SHOWN_VALUES]
    )
