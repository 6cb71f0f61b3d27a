"""What columns tell about the label: each alone, guessed on held-out folds, and which of its values lean where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from rationalize.audit._column_values import NONE, group_values
from rationalize.audit._shard_facts import list_column_names, load_column
from rationalize.audit.audit_config import AuditConfig
from rationalize.audit.audit_findings import LeaningColumn, LeaningValue
from rationalize.metrics.significance import holm
from rationalize.shortcuts.association import associate
from rationalize.shortcuts.phrase_rules import is_associated
from rationalize.shortcuts.phrases import Bools, Ints
from rationalize.shortcuts.word_corpus import WordCorpus

SHOWN_VALUES = 5


@dataclass(frozen=True)
class _Column:
    """A column after its test.

    Attributes:
        found: What it tells; how its values lean is not known yet.
        p_value: Of its guesses against the commonest label, not corrected; None: nothing was guessed.
        values: Its groups with enough documents.
        counts: The documents of these groups, by label (groups, labels).
    """

    found: LeaningColumn
    p_value: float | None
    values: tuple[str, ...]
    counts: Ints


def search_columns(
    corpus: WordCorpus, labels: Ints, folds: Ints | None, names: Sequence[str], config: AuditConfig
) -> tuple[LeaningColumn, ...]:
    """Test every column, those that tell most first; without folds, nothing is guessed."""
    tested = [
        _test_column(corpus, name, measured, labels, folds, config)
        for name, measured in list_column_names(corpus)
    ]
    columns = [column for column in tested if column is not None]
    p_values = [column.p_value for column in columns]
    adjusted = None if folds is None else holm(np.array(p_values, dtype=np.float64))
    found = []
    for index, (column, leaning) in enumerate(zip(columns, _find_leaning(columns, labels, names, config))):
        p_value = None if adjusted is None else float(adjusted[index])
        enough = column.found.gain >= config.min_gain
        suspected = p_value is not None and p_value < config.significance and enough
        found.append(replace(column.found, p_value=p_value, leaning=leaning, suspected=suspected))
    return tuple(sorted(found, key=lambda each: (-each.gain, each.measured, each.name)))


def _test_column(
    corpus: WordCorpus, name: str, measured: bool, labels: Ints, folds: Ints | None, config: AuditConfig
) -> _Column | None:
    """Test a column; None: all documents have the same value."""
    values, codes = load_column(corpus, name, measured=measured)
    counts = np.bincount(codes, minlength=len(values))
    groups, inverse = np.unique(np.array(group_values(values, counts), dtype=object), return_inverse=True)
    if len(groups) < 2:
        return None
    members = inverse.ravel()[codes]
    guesses = None if folds is None else guess_from_groups(members, labels, folds)
    most = labels == np.bincount(labels).argmax()
    by_label = _count_by_label(members, labels, len(groups))
    kept = np.flatnonzero(by_label.sum(1) >= config.min_documents)
    given = np.flatnonzero(groups != NONE)
    return _Column(
        found=LeaningColumn(
            name=name,
            measured=measured,
            documents=int(by_label[given].sum()),
            values=len(given),
            accuracy=None if guesses is None else float((guesses == labels).mean()),
            majority=float(most.mean()),
            p_value=None,
            leaning=(),
            suspected=False,
        ),
        p_value=None if guesses is None else _compare(guesses == labels, most),
        values=tuple(str(groups[each]) for each in kept),
        counts=by_label[kept],
    )


def _count_by_label(groups: Ints, labels: Ints, size: int) -> Ints:
    """Count the documents of each group, by label (groups, labels)."""
    n_labels = int(labels.max()) + 1
    return np.bincount(groups * n_labels + labels, minlength=size * n_labels).reshape(size, n_labels)


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


def _compare(ours: Bools, theirs: Bools) -> float:
    """Return the one-sided p-value of the sign test on documents that only one of the two has right."""
    from scipy.stats import binom

    won, lost = int((ours & ~theirs).sum()), int((~ours & theirs).sum())
    return float(binom.sf(won - 1, won + lost, 0.5)) if won + lost else 1.0


def _find_leaning(
    columns: Sequence[_Column], labels: Ints, names: Sequence[str], config: AuditConfig
) -> list[tuple[LeaningValue, ...]]:
    """Find the values that correlate with a label, by column; all values of all columns are one family of tests."""
    if not any(len(column.values) for column in columns):
        return [()] * len(columns)
    found = associate(np.concatenate([column.counts for column in columns]), np.bincount(labels))
    chosen = is_associated(found, config)
    owners = np.repeat(np.arange(len(columns)), [len(column.values) for column in columns])
    values = [value for column in columns for value in column.values]
    return [
        tuple(
            LeaningValue(value=values[row], **asdict(found.describe(int(row), names)))
            for row in sorted(np.flatnonzero(chosen & (owners == index)), key=lambda row: found.p_values[row])
        )[:SHOWN_VALUES]
        for index in range(len(columns))
    ]
