"""One label and one rationale from several people's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from rationalize.types import Span


def join_spans(spans: Iterable[Span]) -> list[Span]:
    """Return the same characters in as few spans as possible, in order."""
    joined: list[Span] = []
    for span in sorted(spans):
        if joined and span.start <= joined[-1].end:
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, span.end))
        else:
            joined.append(Span(span.start, span.end))
    return joined


def merge_spans(people: Sequence[Sequence[Span]], rule: str) -> tuple[Span, ...]:
    """Return the characters that enough people marked; one person's spans stay as they are."""
    if len(people) == 1:
        return tuple(people[0])
    # As for rows of tokens with several masks, a majority is half of the people or more.
    needed = {"union": 1, "intersection": len(people), "majority": (len(people) + 1) // 2}[rule]
    steps: Counter[int] = Counter()
    for spans in people:
        for span in join_spans(spans):
            steps[span.start] += 1
            steps[span.end] -= 1
    merged, marks, start = [], 0, 0
    for at in sorted(steps):
        before, marks = marks, marks + steps[at]
        if before < needed <= marks:
            start = at
        elif marks < needed <= before:
            merged.append(Span(start, at))
    return tuple(merged)


def merge_labels(labels: Sequence[str]) -> tuple[str | None, bool]:
    """Return the label that most people chose (None in a tie), and whether there was a tie."""
    ranked = Counter(labels).most_common(2)
    if not ranked:
        return None, False
    tie = len(ranked) == 2 and ranked[0][1] == ranked[1][1]
    return (None if tie else ranked[0][0]), tie
