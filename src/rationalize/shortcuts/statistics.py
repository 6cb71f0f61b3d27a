"""Statistics of discovered shortcuts: how many, where, which phrases, and whether they reveal the label."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from typing import TypedDict

from rationalize.shortcuts._doubts import count_repeated, doubt_finder, list_doubts
from rationalize.shortcuts.finder_score import FinderScore
from rationalize.shortcuts.finding import Discovered
from rationalize.shortcuts.propagate import list_phrases
from rationalize.text.words import WordRule, word_mask, word_spans
from rationalize.types import Example, Span

COMMON = 20  # phrases listed


class ClassCounts(TypedDict):
    """How many examples of a class have shortcuts, and how many these are."""

    n_examples: int
    n_with_shortcut: int
    share_with_shortcut: float
    n_shortcuts: int


class PhraseCounts(TypedDict):
    """How often a phrase was found, in all and by class."""

    phrase: str
    n: int
    by_class: dict[str, int]


class Coverage(TypedDict):
    """How many examples and words the shortcuts cover."""

    n_examples: int
    n_with_shortcut: int
    n_shortcuts: int
    share_of_words: float | None


class Truth(TypedDict):
    """How the found words compare with the true shortcuts; None: undefined."""

    precision: float | None
    recall: float | None


class DescribedCoverage(Coverage):
    """The same by class and by phrase."""

    by_class: dict[str, ClassCounts]
    phrases: list[PhraseCounts]


class ShortcutStatistics(DescribedCoverage):
    """The content of shortcuts.json, before a run adds its own."""

    min_run: int
    n_repeated: int
    finder: dict[str, float] | None
    finder_accuracy: float | None
    warnings: list[str]


def describe_shortcuts(
    found: Sequence[Discovered], rule: WordRule, min_run: int = 3, finder: FinderScore | None = None
) -> ShortcutStatistics:
    """Return a JSON-ready summary with plain warnings.

    Args:
        found: The findings.
        rule: The definition of a word.
        min_run: The shortest run of words that counted.
        finder: How well the finder reads, if that is known.
    """
    described = describe_coverage(found, rule)
    phrases = [[phrase for phrase, _ in list_phrases(each.to_example(), rule)] for each in found]
    return {
        **described,
        "min_run": min_run,
        "n_repeated": count_repeated(phrases, min_run),
        "finder": asdict(finder) if finder else None,
        "finder_accuracy": _ratio(sum(each.predicted == each.example.label for each in found), len(found)),
        "warnings": [
            *list_doubts(described["by_class"], phrases, min_run),
            *(doubt_finder(finder) if finder else ()),
        ],
    }


def measure_coverage(found: Sequence[Discovered], rule: WordRule) -> Coverage:
    """Count the examples and words that the shortcuts cover."""
    return {
        "n_examples": len(found),
        "n_with_shortcut": sum(bool(each.shortcuts) for each in found),
        "n_shortcuts": sum(len(each.shortcuts) for each in found),
        "share_of_words": _measure_share(found, rule),
    }


def describe_coverage(found: Sequence[Discovered], rule: WordRule) -> DescribedCoverage:
    """Count the examples and words that the shortcuts cover, by class and by phrase too."""
    return {
        **measure_coverage(found, rule),
        "by_class": count_by_class(found),
        "phrases": count_phrases(found),
    }


def count_by_class(found: Sequence[Discovered]) -> dict[str, ClassCounts]:
    """Count the examples of each class with shortcuts."""
    by_label: dict[str, list[Discovered]] = defaultdict(list)
    for each in found:
        by_label[str(each.example.label)].append(each)
    return {label: _count_class(rows) for label, rows in sorted(by_label.items())}


def count_phrases(found: Sequence[Discovered], most: int = COMMON) -> list[PhraseCounts]:
    """Count the commonest shortcut phrases, by label."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for each in found:
        for span in each.shortcuts:
            counts[normalize_phrase(each.example.text, span)][str(each.example.label)] += 1
    ranked = sorted(counts.items(), key=lambda item: (-item[1].total(), item[0]))
    return [
        {"phrase": phrase, "n": labels.total(), "by_class": dict(labels)} for phrase, labels in ranked[:most]
    ]


def normalize_phrase(text: str, span: Span) -> str:
    """Return the span's words in lower case, with single spaces."""
    return " ".join(text[span.start : span.end].lower().split())


def compare_with_truth(found: Sequence[Discovered], truth: Sequence[Example], rule: WordRule) -> Truth:
    """Compute precision and recall of the found words against the true shortcuts."""
    hits = claimed = true = 0
    for each, known in zip(found, truth, strict=True):
        words = word_spans(known.text, rule)
        guess, real = word_mask(words, each.shortcuts), word_mask(words, known.shortcuts or ())
        hits += sum(a and b for a, b in zip(guess, real, strict=True))
        claimed += sum(guess)
        true += sum(real)
    return {"precision": _ratio(hits, claimed), "recall": _ratio(hits, true)}


def _count_class(rows: Sequence[Discovered]) -> ClassCounts:
    with_shortcut = sum(bool(each.shortcuts) for each in rows)
    return {
        "n_examples": len(rows),
        "n_with_shortcut": with_shortcut,
        "share_with_shortcut": with_shortcut / len(rows),
        "n_shortcuts": sum(len(each.shortcuts) for each in rows),
    }


def _measure_share(found: Sequence[Discovered], rule: WordRule) -> float | None:
    total = marked = 0
    for each in found:
        words = word_spans(each.example.text, rule)
        total += len(words)
        marked += sum(word_mask(words, each.shortcuts))
    return _ratio(marked, total)


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
