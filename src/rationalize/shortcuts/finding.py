"""Definition 1: a potential shortcut token is one that an unsupervised rationalizer selects and people do not mark.

Runs of at least `min_run` such words are shortcuts. Words, not pieces, are counted, so that a long word is not a
run by itself; specials and the query are not words of the text and can never be part of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median

from rationalize.inference.engine import Engine
from rationalize.seeding import python_random
from rationalize.text.words import WordRule, find_runs, mask_spans, word_mask, word_spans
from rationalize.types import Example, Explanation, Span

PAPER_RUN = 3
SHORT_TEXTS = ((30, 1), (60, 2))
"""Texts of fewer words than this (their median), and the shortest run there."""


@dataclass(frozen=True, slots=True)
class Discovered:
    """The findings in one example: its shortcuts, and the label that the finder (if any) predicted."""

    example: Example
    shortcuts: tuple[Span, ...]
    predicted: str | None = None

    def to_example(self) -> Example:
        """Return the example with these shortcuts instead of earlier ones."""
        return replace(self.example, shortcuts=self.shortcuts)

    def join(self, earlier: Iterable[Span], rule: WordRule) -> Discovered:
        """Add earlier shortcuts; those that overlap or touch become one."""
        words = word_spans(self.example.text, rule)
        return replace(self, shortcuts=mask_spans(words, word_mask(words, [*earlier, *self.shortcuts])))


def choose_min_run(examples: Sequence[Example], rule: WordRule) -> int:
    """Choose the shortest run of words that counts as a shortcut by the length of the texts.

    Three words are a quarter of a tweet: a finder picks single words of a phrase there, and these are what repeats.
    """
    middle = median(len(word_spans(example.text, rule)) for example in examples) if examples else 0
    return next((run for below, run in SHORT_TEXTS if middle < below), PAPER_RUN)


def find_shortcut_spans(
    explanation: Explanation, gold: Sequence[Span], min_run: int = PAPER_RUN
) -> tuple[Span, ...]:
    """Find runs of at least `min_run` words that are selected and not gold."""
    marked = word_mask(explanation.words, gold)
    potential = [selected and not known for selected, known in zip(explanation.selected, marked, strict=True)]
    return tuple(
        Span(explanation.words[start].start, explanation.words[end - 1].end)
        for start, end in find_runs(potential)
        if end - start >= min_run
    )


def discover(
    finder: Engine, examples: Sequence[Example], *, min_run: int = PAPER_RUN, require_correct: bool = False
) -> list[Discovered]:
    """Find shortcuts in annotated examples with a trained unsupervised rationalizer (the paper's M_un).

    Args:
        finder: The trained model.
        examples: Examples with gold rationales.
        min_run: Shortest run of words that counts.
        require_correct: Ignore examples whose label the finder gets wrong.
    """
    found = []
    for example, item in zip(examples, finder.explain(examples), strict=True):
        explanation = item.explanation
        spans = find_shortcut_spans(explanation, example.rationale or (), min_run)
        if require_correct and explanation.label != example.label:
            spans = ()
        found.append(Discovered(example, spans, explanation.label))
    return found


def random_shortcuts(found: Iterable[Discovered], seed: int, rule: WordRule) -> list[Discovered]:
    """Draw as many spans of the same lengths outside the gold rationale: a control for discovery."""
    return [_move_randomly(each, seed, rule) for each in found]


def _move_randomly(found: Discovered, seed: int, rule: WordRule) -> Discovered:
    example = found.example
    words = word_spans(example.text, rule)
    free = [not gold for gold in word_mask(words, example.rationale or ())]
    random = python_random(seed, "random shortcuts", example.id)
    spans = []
    for span in found.shortcuts:
        length = sum(word_mask(words, [span]))
        places = [start for start in range(len(words) - length + 1) if all(free[start : start + length])]
        if places:
            start = random.choice(places)
            free[start : start + length] = [False] * length
            spans.append(Span(words[start].start, words[start + length - 1].end))
    return Discovered(example, tuple(sorted(spans)), found.predicted)
