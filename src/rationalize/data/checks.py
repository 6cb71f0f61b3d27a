"""Checks that need more than one row: splits, labels, repeated texts, leakage, gold spans, coverage."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from rationalize.data.dataset import labels_of
from rationalize.data.findings import Findings, brief
from rationalize.data.rows import Tally
from rationalize.data.stats import SplitStats, document_texts
from rationalize.data.word_index import index_words
from rationalize.types import Example, Span

COVERAGE_RATIO = 2.0


@dataclass(frozen=True, slots=True)
class ReadSplit:
    """A split after reading: the examples that were kept and the line each came from."""

    name: str
    file: str
    examples: tuple[Example, ...]
    tally: Tally

    def with_places(self) -> Iterator[tuple[str, Example]]:
        """Every example with its place, `file:line`."""
        for line, example in zip(self.tally.lines, self.examples):
            yield f"{self.file}:{line}", example


def check_splits(splits: Sequence[ReadSplit], findings: Findings) -> None:
    """Report splits that training will miss."""
    names = [split.name for split in splits]
    for missing in ("val", "test"):
        if "train" in names and missing not in names:
            seen, expected = ", ".join(names), f"{missing} as well"
            findings.warning(f"no {missing} split", str(findings.root), seen=seen, expected=expected)


def check_labels(splits: Sequence[ReadSplit], findings: Findings) -> None:
    """Report labels that are missing, alone, unknown to training, or spelled in two ways."""
    trained_on = next((labels_of(split.examples) for split in splits if split.name == "train"), None)
    for split in splits:
        places = _label_places(split, findings)
        _check_spelling(split, places, findings)
        if split.name == "train" and len(places) < 2:
            seen, expected = brief(list(places)), "at least two labels to tell apart"
            findings.error("fewer than two classes", split.file, field="label", seen=seen, expected=expected)
        elif trained_on:
            for label in (label for label in places if label not in trained_on):
                seen, expected = brief(label), f"one of {brief(list(trained_on))}"
                findings.error(
                    "label unknown in train", places[label], field="label", seen=seen, expected=expected
                )


def _label_places(split: ReadSplit, findings: Findings) -> dict[str, str]:
    """Where each label is met first. Without a label a row can be explained, but not be trained on."""
    places: dict[str, str] = {}
    report = findings.error if split.name == "train" else findings.warning
    for place, example in split.with_places():
        if example.label is None:
            report("missing label", place, field="label", seen="nothing", expected="a class name")
        else:
            places.setdefault(example.label, place)
    return places


def _check_spelling(split: ReadSplit, places: dict[str, str], findings: Findings) -> None:
    alike: dict[str, list[str]] = defaultdict(list)
    for label in places:
        alike[label.strip().lower()].append(label)
    for key, labels in alike.items():
        if len(labels) > 1 or not key:
            place, seen = places[labels[-1]], brief(labels)
            expected = "one spelling for each class, and never an empty one"
            findings.warning("labels spelled alike", place, field="label", seen=seen, expected=expected)


def check_repeats(splits: Sequence[ReadSplit], findings: Findings) -> None:
    """Report the same text (and query) twice in a split, with another label, or in two splits."""
    elsewhere: dict[tuple[str, str | None], str] = {}
    for split in splits:
        here: dict[tuple[str, str | None], tuple[str, str | None]] = {}
        for place, example in split.with_places():
            key = (example.text, example.query)
            first, label = here.setdefault(key, (place, example.label))
            if label != example.label:
                seen, expected = brief(example.label), f"{brief(label)} as at {first}"
                findings.warning(
                    "same text, another label", place, field="label", seen=seen, expected=expected
                )
            elif first != place:
                seen = f"the text of {first}"
                findings.warning("repeated text", place, seen=seen, expected="each text once")
            elif key in elsewhere:
                seen, expected = f"the text of {elsewhere[key]}", "no text in two splits (leakage)"
                findings.warning("text in two splits", place, seen=seen, expected=expected)
        elsewhere = {key: place for key, (place, _) in here.items()} | elsewhere


def check_shared_documents(splits: Sequence[ReadSplit], findings: Findings) -> None:
    """Report documents that two splits share, be it under different queries."""
    texts = {split.name: document_texts(split.examples) for split in splits}
    for one, other in combinations(splits, 2):
        shared = len(texts[one.name] & texts[other.name])
        if shared:
            seen, expected = f"{shared} documents of {one.name}", "splits cut by document (leakage)"
            findings.warning("documents in two splits", other.file, seen=seen, expected=expected)


def check_spans(split: ReadSplit, findings: Findings, *, word_borders: bool) -> None:
    """Report gold spans that overlap or, if asked, that start or end inside a word."""
    for place, example in split.with_places():
        spans = example.rationale or ()
        overlap = _overlap(spans)
        if overlap:
            seen, expected = brief(overlap), "spans of one group apart from each other"
            findings.warning("overlapping spans", place, field="rationale", seen=seen, expected=expected)
        cut = _describe_cut_word(example.text, spans) if word_borders else ""
        if cut:
            expected = "offsets in code points, not in bytes or UTF-16 units"
            findings.warning("span ends inside a word", place, field="rationale", seen=cut, expected=expected)


def _overlap(spans: Sequence[Span]) -> list[list[int]]:
    """The first two spans of one group that share characters."""
    last: dict[int, Span] = {}
    for span in sorted(spans):
        before = last.get(span.group)
        if before and span.start < before.end:
            return [[before.start, before.end], [span.start, span.end]]
        last[span.group] = span
    return []


def _describe_cut_word(text: str, spans: Sequence[Span]) -> str:
    """The first span that starts or ends inside a word, described; empty if none does."""
    for span in spans:
        if _inside_word(text, span.start) or _inside_word(text, span.end):
            return f"{span.start}, {span.end} in {brief(text[max(0, span.start - 8) : span.end + 8])}"
    return ""


def _inside_word(text: str, at: int) -> bool:
    if not 0 < at < len(text) or not (text[at - 1].isalnum() and text[at].isalnum()):
        return False
    # In scripts without spaces letters touch, and still each is a word. A window is enough to tell.
    start = max(0, at - 40)
    return len(index_words(text[start : at + 40]).touching(at - start - 1, at - start + 1)) == 1


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
