"""What columns tell about the label: each alone, guessed on held-out folds, and which of its values lean where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from rationalize.audit._column_values import NONE, group_values, list_metadata
from rationalize.audit._text_statistics import list_statistics
from rationalize.audit.audit_config import AuditConfig
from rationalize.audit.audit_findings import LeaningColumn, LeaningValue
from rationalize.metrics.significance import holm
from rationalize.shortcuts.association import associate
from rationalize.shortcuts.phrase_rules import is_associated
from rationalize.shortcuts.phrases import Bools, Ints
from rationalize.text.words import WordRule
from rationalize.types import Example

SHOWN_VALUES = 5


@dataclass(frozen=True)
class _Column:
    """A column, whose values are put into groups.

    Attributes:
        name: The column's name.
        measured: Whether it was measured on the texts; else it came with the data.
        groups: The number of each document's group.
        names: The groups' names.
    """

    name: str
    measured: bool
    groups: Ints
    names: tuple[str, ...]

    def count_by_label(self, labels: Ints, n_labels: int) -> Ints:
        """Count the documents of each group, by label (groups, labels)."""
        counts = np.zeros((len(self.names), n_labels), dtype=np.int64)
        np.add.at(counts, (self.groups, labels), 1)
        return counts


def search_columns(
    examples: Sequence[Example],
    labels: Ints,
    folds: Ints | None,
    names: Sequence[str],
    config: AuditConfig,
    rule: WordRule,
) -> tuple[LeaningColumn, ...]:
    """Test every column, those that tell most first; without folds, nothing is guessed."""
    columns = _list_columns(examples, rule)
    majority = int(np.bincount(labels).argmax())
    guesses = [None if folds is None else guess_from_groups(each.groups, labels, folds) for each in columns]
    p_values = [None if each is None else _compare(each == labels, labels == majority) for each in guesses]
    adjusted = None if folds is None else holm(np.array(p_values, dtype=np.float64))
    leaning = _find_leaning(columns, labels, names, config)
    found = []
    for index, (column, guess) in enumerate(zip(columns, guesses, strict=True)):
        right = None if guess is None else float((guess == labels).mean())
        share = float((labels == majority).mean())
        p_value = None if adjusted is None else float(adjusted[index])
        found.append(
            LeaningColumn(
                name=column.name,
                measured=column.measured,
                documents=int(sum(column.names[group] != NONE for group in column.groups)),
                values=len(column.names) - (NONE in column.names),
                accuracy=right,
                majority=share,
                p_value=p_value,
                leaning=leaning[index],
                suspected=right is not None
                and p_value is not None
                and p_value < config.significance
                and right - share >= config.min_gain,
            )
        )
    return tuple(sorted(found, key=lambda each: (-each.gain, each.measured, each.name)))


def guess_from_groups(groups: Ints, labels: Ints, folds: Ints) -> Ints:
    """Guess each label as the commonest one of its group in the other folds; of all, for a group of its own."""
    n_labels = int(labels.max()) + 1
    guesses = np.zeros(len(labels), dtype=np.int64)
    for fold in np.unique(folds):
        rows = folds != fold
        counts = np.zeros((int(groups.max()) + 1, n_labels))
        np.add.at(counts, (groups[rows], labels[rows]), 1)
        counts += counts.sum(0) / counts.sum()  # decides ties, and groups that are nowhere else
        guesses[~rows] = counts[groups[~rows]].argmax(1)
    return guesses


def _list_columns(examples: Sequence[Example], rule: WordRule) -> list[_Column]:
    found = []
    for measured, columns in ((False, list_metadata(examples)), (True, list_statistics(examples, rule))):
        for name, values in columns.items():
            names, groups = np.unique(np.array(group_values(values), dtype=object), return_inverse=True)
            if len(names) > 1:
                found.append(_Column(name, measured, groups.ravel(), tuple(map(str, names))))
    return found


def _compare(ours: Bools, theirs: Bools) -> float:
    """Return the one-sided p-value of the sign test on documents that only one of the two has right."""
    from scipy.stats import binom

    won, lost = int((ours & ~theirs).sum()), int((~ours & theirs).sum())
    return float(binom.sf(won - 1, won + lost, 0.5)) if won + lost else 1.0


def _find_leaning(
    columns: Sequence[_Column], labels: Ints, names: Sequence[str], config: AuditConfig
) -> list[tuple[LeaningValue, ...]]:
    """Find the values that correlate with a label, by column; all values of all columns are one family of tests."""
    totals = np.bincount(labels)
    tables = [column.count_by_label(labels, len(totals)) for column in columns]
    kept = [np.flatnonzero(table.sum(1) >= config.min_documents) for table in tables]
    rows = [table[which] for table, which in zip(tables, kept, strict=True)]
    if not sum(map(len, rows)):
        return [()] * len(columns)
    found = associate(np.concatenate(rows), totals)
    chosen = is_associated(found, config)
    owners = np.repeat(np.arange(len(columns)), [len(which) for which in kept])
    places = np.concatenate(kept)
    return [
        tuple(
            LeaningValue(value=column.names[places[row]], **asdict(found.describe(int(row), names)))
            for row in sorted(np.flatnonzero(chosen & (owners == index)), key=lambda row: found.p_values[row])
        )[:SHOWN_VALUES]
        for index, column in enumerate(columns)
    ]
