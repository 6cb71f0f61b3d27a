"""Find everything that is wrong with a data set, before any training."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import compress
from pathlib import Path

from rationalize.data import _checks as checks
from rationalize.data._checks import ReadSplit
from rationalize.data._oddities import check_field_names, check_links, check_visible
from rationalize.data._open_source import DataSource, open_source
from rationalize.data._remote_files import to_place
from rationalize.data._truncation import Pieces, Truncation, measure_truncation
from rationalize.data.findings import Findings, Problem, Severity
from rationalize.data.held_examples import hold_examples, select_examples
from rationalize.data.read_options import ReadOptions
from rationalize.data.rows import Tally
from rationalize.data.source import finish_reading
from rationalize.data.stats import SplitStats, measure_split
from rationalize.errors import ConfigError, DataError
from rationalize.files import JsonObject
from rationalize.text.words import PLAIN, WordRule
from rationalize.types import Example

HELD_ROWS = 100_000
"""Rows of a split that are checked in memory; more are in a temporary file."""


@dataclass(frozen=True, slots=True)
class SplitCheck:
    """One split: rows read = kept + rejected, and statistics of those kept."""

    read: int
    kept: int
    rejected: int
    stats: SplitStats
    truncation: Truncation | None


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What was found.

    Attributes:
        path: The data set.
        format: `eraser`, `jsonl`, `csv`, `tsv`, `json`, `parquet`, or `unknown` if it could not be opened.
        words: Its definition of a word.
        trainable: Whether a run without gold rationales would accept it.
        splits: Counts by split.
        problems: At most 50 problems, errors first.
        counts: How often each kind of problem occurred, listed or not: (severity, kind, times).
        notes: How often something unusual but harmless was found.
    """

    path: str
    format: str
    words: WordRule
    trainable: bool
    splits: dict[str, SplitCheck]
    problems: tuple[Problem, ...]
    counts: tuple[tuple[Severity, str, int], ...]
    notes: dict[str, int]

    @property
    def errors(self) -> int:
        """Number of errors."""
        return sum(times for severity, _, times in self.counts if severity == "error")

    @property
    def warnings(self) -> int:
        """Number of warnings."""
        return sum(times for severity, _, times in self.counts if severity == "warning")

    @property
    def ok(self) -> bool:
        """True if there is no error; warnings may remain."""
        return not self.errors

    def to_dict(self) -> JsonObject:
        """Plain values, ready for JSON."""
        counts = [dict(zip(("severity", "kind", "times"), count)) for count in self.counts]
        summary = {"ok": self.ok, "errors": self.errors, "warnings": self.warnings}
        return asdict(self) | {"counts": counts} | summary


def check(
    path: Path | str,
    options: ReadOptions | None = None,
    *,
    pieces: Pieces | None = None,
    max_tokens: int | None = None,
) -> CheckReport:
    """Check a data set without changing it and without stopping at the first problem.

    Args:
        path: A folder, an archive, a file, a pattern or an address, as for `load`.
        options: How rows are read.
        pieces: Word pieces of a text, to find how much gold is cut off; needs `max_tokens`.
        max_tokens: Word pieces that the encoder takes, special tokens included.
    """
    if (pieces is None) != (max_tokens is None) or (max_tokens is not None and max_tokens < 3):
        raise ConfigError(f"max_tokens: saw {max_tokens}, expected 3 or more, together with an encoder.")
    path, options = to_place(path), options or ReadOptions()
    findings = Findings(path, strict=False)
    format, words, splits = "unknown", PLAIN, list[ReadSplit]()
    try:
        with open_source(path, findings, options) as source:
            format, splits = source.format, _read_all(source)
            words = source.words(split.tally for split in splits)
            named = None if source.eraser else options
        finish_reading(findings, {split.name: split.tally for split in splits}, named)
    except DataError as error:
        findings.error("cannot be opened", str(path), seen=str(error), expected="a data set")
    figures = {split.name: measure_split(split.examples, words) for split in splits}
    ready = bool(splits) and checks.check_ready(splits, findings)
    checks.check_splits(splits, findings)
    checks.check_labels(splits, findings)
    checks.check_repeats(splits, findings)
    if format not in ("eraser", "unknown"):
        check_field_names(splits, findings, options)
    check_visible(splits, findings)
    if isinstance(path, Path):
        check_links(path, findings)
    checks.check_shared_documents(splits, findings)
    checks.check_coverage(figures, splits, findings)
    annotated = [split for split in splits if figures[split.name].annotated]
    for split in annotated:
        checks.check_overlaps(split, findings)
    if format != "eraser":
        checks.check_word_borders(annotated, findings, words, options)
    cuts = {split.name: _measure_cut(split, pieces, max_tokens, words, findings) for split in splits}
    counts = tuple((severity, kind, times) for (severity, kind), times in sorted(findings.counts.items()))
    return CheckReport(
        path=str(path),
        format=format,
        words=words,
        trainable=ready and not findings.total("error"),
        splits={split.name: _summarize(split, figures[split.name], cuts[split.name]) for split in splits},
        problems=findings.list_problems(),
        counts=counts,
        notes=dict(sorted(findings.notes.items())),
    )


def _read_all(source: DataSource) -> list[ReadSplit]:
    splits = []
    for name in source.split_files:
        tally = Tally()
        examples = hold_examples(source.examples(name, tally), HELD_ROWS)
        if tally.read and not tally.kept:
            seen, expected = f"{tally.read} rejected rows", "at least one good row"
            source.findings.error("no row can be used", source.place(name), seen=seen, expected=expected)
        if source.options.drop_unlabeled:
            examples = _drop_unlabeled(examples, tally, source.findings)
        splits.append(ReadSplit(name, source.place(name), examples, tally))
    if source.eraser:
        unused = len(source.eraser.documents.unused())
        source.findings.note("documents in no split", unused)
    return splits


def _drop_unlabeled(examples: Sequence[Example], tally: Tally, findings: Findings) -> Sequence[Example]:
    """Drop examples without a label, and their lines from the tally."""
    has_label = [example.label is not None for example in examples]
    findings.note("rows without a label, left out", has_label.count(False))
    tally.files[:] = list(compress(tally.files, has_label))
    tally.lines[:] = array("q", compress(tally.lines, has_label))
    tally.kept = len(tally.files)
    return select_examples(examples, compress(range(len(has_label)), has_label))


def _measure_cut(
    split: ReadSplit, pieces: Pieces | None, max_tokens: int | None, rule: WordRule, findings: Findings
) -> Truncation | None:
    if pieces is None or max_tokens is None:
        return None
    cut = measure_truncation(split.examples, pieces, max_tokens, rule)
    if cut.gold_words_lost:
        share, emptied = cut.gold_words_lost / cut.gold_words, cut.rows_without_gold_left
        seen = f"{share:.1%} of the gold words behind the cut, {emptied} rows left without gold"
        expected = f"gold in the first {max_tokens} word pieces; raise the limit"
        findings.warning(
            "gold lost to truncation", split.file, field="rationale", seen=seen, expected=expected
        )
    return cut


def _summarize(split: ReadSplit, stats: SplitStats, cut: Truncation | None) -> SplitCheck:
    tally = split.tally
    return SplitCheck(tally.read, tally.kept, tally.rejected, stats, cut)
