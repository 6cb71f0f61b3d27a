"""Everything that can be wrong with a data set, found before any training."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rationalize.data import checks
from rationalize.data.checks import ReadSplit
from rationalize.data.findings import Findings, Problem, Severity
from rationalize.data.rows import Tally
from rationalize.data.source import DataSource, open_source
from rationalize.data.stats import SplitStats, split_stats
from rationalize.data.truncation import Pieces, Truncation, truncation_of
from rationalize.errors import ConfigError, DataError


@dataclass(frozen=True, slots=True)
class SplitCheck:
    """One split: rows read = kept + rejected, and the figures of those kept."""

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
        format: `eraser`, `jsonl`, `csv`, `tsv`, or `unknown` if it could not be opened.
        splits: Counts by split.
        problems: At most 50 problems, errors first.
        counts: How often each kind of problem occurred, listed or not: (severity, kind, times).
        notes: How often something odd but harmless was met.
    """

    path: str
    format: str
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
        """True if the data can be trained on; warnings may remain."""
        return not self.errors

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        counts = [dict(zip(("severity", "kind", "times"), count)) for count in self.counts]
        summary = {"ok": self.ok, "errors": self.errors, "warnings": self.warnings}
        return asdict(self) | {"counts": counts} | summary


def check(
    path: Path | str,
    *,
    pieces: Pieces | None = None,
    max_tokens: int | None = None,
    text_field: str = "text",
    label_field: str = "label",
) -> CheckReport:
    """Check a data set without changing it and without stopping at the first problem.

    Args:
        path: A folder, an archive or a file, as for `load`.
        pieces: Word pieces of a text, to find how much gold is cut off; needs `max_tokens`.
        max_tokens: Word pieces that the encoder takes, special tokens included.
        text_field: Name of the field or column with the text.
        label_field: Name of the field or column with the label.
    """
    if (pieces is None) != (max_tokens is None) or (max_tokens is not None and max_tokens < 3):
        raise ConfigError(f"max_tokens: saw {max_tokens}, expected 3 or more, together with an encoder.")
    path = Path(path)
    findings = Findings(path, strict=False)
    format, splits = "unknown", list[ReadSplit]()
    try:
        with open_source(path, findings, text_field=text_field, label_field=label_field) as source:
            format, splits = source.format, _read_all(source)
    except DataError as error:
        findings.error("cannot be opened", str(path), seen=str(error), expected="a data set")
    figures = {split.name: split_stats(split.examples) for split in splits}
    _check_all(splits, figures, findings, plain=format != "eraser")
    cuts = {split.name: _cut(split, pieces, max_tokens, findings) for split in splits}
    counts = tuple((severity, kind, times) for (severity, kind), times in sorted(findings.counts.items()))
    return CheckReport(
        path=str(path),
        format=format,
        splits={split.name: _summary(split, figures[split.name], cuts[split.name]) for split in splits},
        problems=findings.list_problems(),
        counts=counts,
        notes=dict(sorted(findings.notes.items())),
    )


def _read_all(source: DataSource) -> list[ReadSplit]:
    splits = []
    for name in source.split_files:
        tally = Tally()
        examples = tuple(source.examples(name, tally))
        splits.append(ReadSplit(name, source.place(name), examples, tally))
        if tally.read and not tally.kept:
            seen, expected = f"{tally.read} rejected rows", "at least one good row"
            source.findings.error("no row can be used", source.place(name), seen=seen, expected=expected)
    if source.eraser:
        unused = len(source.eraser.documents.unused())
        source.findings.note("documents in no split", unused)
    return splits


def _check_all(
    splits: list[ReadSplit], figures: dict[str, SplitStats], findings: Findings, *, plain: bool
) -> None:
    checks.check_splits(splits, findings)
    checks.check_labels(splits, findings)
    checks.check_repeats(splits, findings)
    checks.check_shared_documents(splits, findings)
    checks.check_coverage(figures, splits, findings)
    for split in splits:
        checks.check_spans(split, findings, word_borders=plain)


def _cut(
    split: ReadSplit, pieces: Pieces | None, max_tokens: int | None, findings: Findings
) -> Truncation | None:
    if pieces is None or max_tokens is None:
        return None
    cut = truncation_of(split.examples, pieces, max_tokens)
    if cut.gold_words_lost:
        share, emptied = cut.gold_words_lost / cut.gold_words, cut.rows_without_gold_left
        seen = f"{share:.1%} of the gold words behind the cut, {emptied} rows left without gold"
        expected = f"gold in the first {max_tokens} word pieces; raise the limit"
        findings.warning(
            "gold lost to truncation", split.file, field="rationale", seen=seen, expected=expected
        )
    return cut


def _summary(split: ReadSplit, stats: SplitStats, cut: Truncation | None) -> SplitCheck:
    tally = split.tally
    return SplitCheck(tally.read, tally.kept, tally.rejected, stats, cut)
