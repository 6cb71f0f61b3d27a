"""A verdict in words: what a model is better than, which warnings hold, and what to try next.

A model is above something if that lies below the 95 % interval of the model's own score, and below it if it lies above
the interval. A difference inside the interval is none: the model is then "no better".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from rationalize.evaluation._advice import advise
from rationalize.evaluation.evaluation import Evaluation
from rationalize.metrics.intervals import wilson
from rationalize.metrics.significance import Interval
from rationalize.printable import make_printable

Topic = Literal["query", "bag", "selectors", "full_text"]
Answer = Literal["above", "no better", "below"]

AT_ITS_SHARE = ("random", "first", "last")
"""Trivial selectors that select as much as the model."""
MOST_WARNINGS = 3
"""Warnings that are shown; the others are counted."""
NAMES: dict[Topic, str] = {
    "query": "the query alone",
    "bag": "a bag of words",
    "selectors": "the best selector that ignores the text",
    "full_text": "the full text",
}


@dataclass(frozen=True, slots=True)
class Judgment:
    """A score of the model beside another one that it should reach.

    Attributes:
        topic: What it is compared with.
        score: Name of the score.
        value: The model's.
        margin: Half the width of its 95 % interval.
        reference: The other's.
        answer: Whether the model is above it, no better, or below. With the full text, `no better` means near it.
        text: The same in a sentence.
    """

    topic: Topic
    score: str
    value: float
    margin: float
    reference: float
    answer: Answer
    text: str

    @property
    def holds(self) -> bool:
        """Whether this is as it should be."""
        return self.answer == "above" or (self.topic == "full_text" and self.answer == "no better")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the scores on a split say about a model.

    Attributes:
        split: Name of the split.
        n_examples: Number of examples behind it.
        comparisons: What the model was compared with, as far as it is known.
        warnings: Signs that the selector or the label has collapsed.
        advice: What to try next.
    """

    split: str
    n_examples: int
    comparisons: tuple[Judgment, ...]
    warnings: tuple[str, ...]
    advice: tuple[str, ...]

    @property
    def good(self) -> bool:
        """Whether every comparison holds and there is no warning."""
        return all(each.holds for each in self.comparisons) and not self.warnings

    @property
    def summary(self) -> str:
        """The verdict in one sentence."""
        where = f"Verdict on {self.split} ({self.n_examples} examples)"
        if not self.comparisons and not self.warnings:
            return f"{where}: nothing to compare with."
        n, failed = len(self.comparisons), sum(not each.holds for each in self.comparisons)
        parts = [f"{n - failed} of {n} comparisons hold"] if n else []
        parts += (
            [f"{len(self.warnings)} warning{'s' if len(self.warnings) > 1 else ''}"] if self.warnings else []
        )
        return f"{where}: {'good' if self.good else 'not good yet'}; {', '.join(parts)}."

    def list_lines(self) -> list[str]:
        """List the lines to show: summary, comparisons, warnings, advice; at most 15."""
        warnings = [f"! {text}" for text in self.warnings[:MOST_WARNINGS]]
        if len(self.warnings) > MOST_WARNINGS:
            warnings.append(f"! and {len(self.warnings) - MOST_WARNINGS} more")
        compared = [f"{'+' if each.holds else '-'} {each.text}" for each in self.comparisons]
        return [self.summary, *compared, *warnings, *(f"> {text}" for text in self.advice)]

    def __str__(self) -> str:
        return make_printable("\n".join(self.list_lines()))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "good": self.good,
            "summary": self.summary,
            "split": self.split,
            "n_examples": self.n_examples,
            "comparisons": [asdict(each) | {"holds": each.holds} for each in self.comparisons],
            "warnings": list(self.warnings),
            "advice": list(self.advice),
        }


def judge(found: Evaluation) -> Verdict:
    """Judge a model by its scores on a split."""
    comparisons = tuple(
        each
        for each in (
            _compare(found, "query", "task_f1_weighted", found.task_f1_weighted_query),
            _compare(found, "bag", "task_f1_weighted", found.task_f1_weighted_bag),
            _compare(found, "selectors", "token_f1_eraser", max(_list_trivial(found), default=None)),
            _compare(found, "full_text", "task_f1_weighted_rationale", found.task_f1_weighted_full_text),
        )
        if each is not None
    )
    failed = [each.topic for each in comparisons if not each.holds]
    return Verdict(
        split=found.split,
        n_examples=found.n_examples,
        comparisons=comparisons,
        warnings=found.health.warnings,
        advice=advise(found, failed),
    )


def find_interval(found: Evaluation, score: str) -> Interval | None:
    """Return the interval of a score; one that was not kept is computed as if all texts differed. None: no score."""
    value = found.metrics.get(score)
    if value is None or not found.n_examples:
        return None
    return found.intervals.get(score) or wilson(min(1.0, float(value)), found.n_examples)


def _list_trivial(found: Evaluation) -> Iterator[float]:
    for selector in AT_ITS_SHARE:
        score = found.trivial[selector].token_f1_eraser if selector in found.trivial else None
        if score is not None:
            yield score


def _compare(found: Evaluation, topic: Topic, score: str, reference: float | None) -> Judgment | None:
    value, interval = found.metrics.get(score), find_interval(found, score)
    if value is None or interval is None or reference is None:
        return None
    above, below = interval.low > reference, interval.high < reference
    answer: Answer = "above" if above else "below" if below else "no better"
    text = _write_sentence(topic, answer, float(value), interval.margin, reference)
    return Judgment(topic, score, float(value), interval.margin, reference, answer, text)


def _write_sentence(topic: Topic, answer: Answer, value: float, margin: float, reference: float) -> str:
    score = "token F1" if topic == "selectors" else "task F1"
    figures = f"{score} {100 * value:.1f} ± {100 * margin:.1f} against {100 * reference:.1f}"
    if topic == "full_text":
        said = {"above": "above", "no better": "near", "below": "below"}[answer]
        return f"The label from the rationale alone is {said} that from the full text ({figures})."
    subject = "The rationale" if topic == "selectors" else "The label"
    said = "no better than" if answer == "no better" else answer
    at = " at its share" if topic == "selectors" else ""
    return f"{subject} is {said} {NAMES[topic]}{at} ({figures})."
