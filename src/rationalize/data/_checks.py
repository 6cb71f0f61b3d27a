"""Checks that need more than one row: what training asks for, labels, repeated texts, leakage, spans, coverage."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from rationalize.data._first_places import FirstPlaces
from rationalize.data._light_readiness import outline_parts
from rationalize.data._partial_words import find_cut_spans, report_cut_spans
from rationalize.data.findings import Findings, shorten, show_place
from rationalize.data.held_examples import is_on_disk
from rationalize.data.read_options import ReadOptions
from rationalize.data.readiness import Parts, choose_parts, find_obstacles
from rationalize.data.rows import Tally
from rationalize.data.stats import SplitStats, collect_document_texts
from rationalize.errors import DataError
from rationalize.text.words import WordRule
from rationalize.types import Example, Span

COVERAGE_RATIO = 2.0


@dataclass(frozen=True, slots=True)
class ReadSplit:
    """A split after reading.

    Attributes:
        name: The split.
        file: The file that it is in.
        examples: Those that were kept.
        tally: The file and line (or item) that each came from.
    """

    name: str
    file: str
    examples: Collection[Example]
    tally: Tally

    def with_places(self) -> Iterator[tuple[str, Example]]:
        """Yield every example with its place, `file:line`."""
        for file, number, example in zip(self.tally.files, self.tally.lines, self.examples):
            yield show_place(file, number, is_item=file in self.tally.items), example


def check_ready(splits: Sequence[ReadSplit], findings: Findings) -> bool:
    """Report what keeps a run from being trained on the splits as it would find them; True if nothing does."""
    if not any(len(split.examples) for split in splits):
        return False  # missing rows are reported elsewhere
    try:
        parts, places = _choose_parts(splits, str(findings.root))
    except DataError:
        seen, expected = ", ".join(split.name for split in splits) or "nothing", "a split called train"
        findings.warning("nothing to train on", str(findings.root), seen=seen, expected=expected)
        return False
    for note in parts.notes:
        findings.note(note)
    ready = True
    for obstacle in find_obstacles(parts.train, parts.dev):
        place = places[id(obstacle.example)] if obstacle.example else str(findings.root)
        findings.error(
            obstacle.kind,
            place,
            field="label",
            seen=obstacle.seen,
            expected=obstacle.expected,
            setting=obstacle.setting,
        )
        ready = False
    return ready


def _choose_parts(splits: Sequence[ReadSplit], name: str) -> tuple[Parts, dict[int, str]]:
    """Choose the parts of a run, and return where their examples are, by `id()`."""
    if any(is_on_disk(split.examples) for split in splits):
        return outline_parts(splits, name)
    held = [(split.name, list(split.with_places())) for split in splits]
    parts = choose_parts({split: tuple(each for _, each in rows) for split, rows in held}, name)
    return parts, {id(example): place for _, rows in held for place, example in rows}


def check_splits(splits: Sequence[ReadSplit], findings: Findings) -> None:
    """Report splits that will be missed later."""
    names = [split.name for split in splits]
    for missing in ("dev", "test"):
        if "train" in names and missing not in names:
            seen, expected = ", ".join(names), f"{missing} as well"
            findings.warning(f"no {missing} split", str(findings.root), seen=seen, expected=expected)


def check_labels(splits: Sequence[ReadSplit], findings: Findings) -> None:
    """Report labels that are missing, unknown to training, or spelled in two ways, where training does not mind."""
    trained_on: list[str] | None = None
    for split in splits:  # train comes first
        is_scored_only = trained_on is not None and split.name not in ("train", "dev")
        places = _locate_labels(split, findings if is_scored_only else None)
        trained_on = sorted(places) if split.name == "train" else trained_on
        _check_spelling(places, findings)
        for label in (label for label in places if is_scored_only and label not in (trained_on or ())):
            seen, expected = shorten(label), f"one of {shorten(trained_on or [])}"
            findings.warning(
                "label unknown in train", places[label], field="label", seen=seen, expected=expected
            )


def _locate_labels(split: ReadSplit, findings: Findings | None) -> dict[str, str]:
    """Find where each label occurs first. A row without a label can be explained, but not scored."""
    places: dict[str, str] = {}
    for place, example in split.with_places():
        if example.label is not None:
            places.setdefault(example.label, place)
        elif findings is not None:
            findings.warning("missing label", place, field="label", seen="nothing", expected="a class name")
    return places


def _check_spelling(places: dict[str, str], findings: Findings) -> None:
    alike: dict[str, list[str]] = defaultdict(list)
    for label in places:
        alike[_fold(label)].append(label)
    for key, labels in alike.items():
        if len(labels) > 1 or not key:
            place, seen = places[labels[-1]], shorten(labels)
            expected = "one spelling for each class, and never an empty one"
            findings.warning("labels spelled alike", place, field="label", seen=seen, expected=expected)


def _fold(label: str) -> str:
    """Return what is left of a label without letter case, white space, invisible characters and Unicode's variants."""
    plain = unicodedata.normalize("NFKC", label).casefold()
    return "".join(each for each in plain if unicodedata.category(each)[0] not in "ZC")


def check_repeats(splits: Sequence[ReadSplit], findings: Findings) -> None:
    """Report the same text (and query) twice in a split, with another label, or in two splits."""
    earlier: list[FirstPlaces[tuple[str, str | None]]] = []
    for split in splits:
        here = FirstPlaces[tuple[str, str | None]]()
        for place, example in split.with_places():
            key = example.text if example.query is None else f"{example.text}\x1f{example.query}"
            first, label = here.setdefault(key, (place, example.label))
            if label != example.label:
                seen, expected = shorten(example.label), f"{shorten(label)} as at {first}"
                findings.warning(
                    "same text, another label", place, field="label", seen=seen, expected=expected
                )
            elif first != place:
                seen = f"the text of {first}"
                findings.warning("repeated text", place, seen=seen, expected="each text once")
            elif there := next(filter(None, (each.get(key) for each in earlier)), None):
                seen, expected = f"the text of {there[0]}", "no text in two splits (leakage)"
                findings.warning("text in two splits", place, seen=seen, expected=expected)
        earlier.append(here)


def check_shared_documents(splits: Sequence[ReadSplit], findings: Findings) -> None:
    """Report documents that two splits share, also under different queries."""
    if len(splits) < 2:
        return
    texts = {split.name: collect_document_texts(split.examples) for split in splits}
    for one, other in combinations(splits, 2):
        shared = texts[one.name].count_shared(texts[other.name])
        if shared:
            seen, expected = f"{shared} documents of {one.name}", "splits cut by document (leakage)"
            findings.warning("documents in two splits", other.file, seen=seen, expected=expected)


def check_overlaps(split: ReadSplit, findings: Findings) -> None:
    """Report gold spans that overlap."""
    for place, example in split.with_places():
        overlap = _find_overlap(example.rationale or ())
        if overlap:
            seen, expected = shorten(overlap), "spans of one group apart from each other"
            findings.warning("overlapping spans", place, field="rationale", seen=seen, expected=expected)


def check_word_borders(
    splits: Sequence[ReadSplit], findings: Findings, rule: WordRule, options: ReadOptions
) -> None:
    """Report gold spans that start or end inside a word, once for each kind."""
    rows = (row for split in splits for row in split.with_places())
    report_cut_spans(
        (each for row in rows for each in find_cut_spans(*row, rule)),
        findings,
        options.fields.rationale,
        options.partial_words,
    )


def _find_overlap(spans: Sequence[Span]) -> list[list[int]]:
    """Find the first two spans of one group that share characters."""
    last: dict[int, Span] = {}
    for span in sorted(spans):
        before = last.get(span.group)
        if before and span.start < before.end:
            return [[before.start, before.end], [span.start, span.end]]
        last[span.group] = span
    return []


def check_coverage(stats: dict[str, SplitStats], splits: Sequence[ReadSplit], findings: Findings) -> None:
    """Report a split whose gold covers far more of the text than that of another."""
    shares = sorted((stats[split.name].gold_fraction or 0.0, split.name, split.file) for split in splits)
    shares = [entry for entry in shares if entry[0] > 0]
    if shares and shares[-1][0] > COVERAGE_RATIO * shares[0][0]:
        (least, least_name, _), (most, _, file) = shares[0], shares[-1]
        findings.warning(
            "gold share differs between splits",
            file,
            field="rationale",
            seen=f"gold on {most:.1%} of the words, {least:.1%} in {least_name}",
            expected=f"a factor of at most {COVERAGE_RATIO:g}: scores on the two are not comparable",
        )
