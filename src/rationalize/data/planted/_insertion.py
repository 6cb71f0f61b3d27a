"""Put words into an example's text; everything that points into the text moves along."""

from __future__ import annotations

import random
from dataclasses import replace

from rationalize.data.planted.plant_config import ShortcutPlan
from rationalize.text.words import WHITE_SPACE, WordRule, find_word_bounds
from rationalize.types import Document, Example, Span


def insert_shortcut(example: Example, plan: ShortcutPlan, rule: WordRule, rng: random.Random) -> Example:
    """The example with the shortcut in its text, and its span among the shortcuts."""
    at = _choose_place(example, plan, rule, rng)
    before, after = _choose_spaces(example.text, at)
    added = f"{before}{plan.text}{after}"
    own = Span(at + len(before), at + len(before) + len(plan.text))
    length = len(example.text)
    return replace(
        example,
        text=f"{example.text[:at]}{added}{example.text[at:]}",
        rationale=_move(example.rationale, at, len(added)),
        shortcuts=tuple(sorted([*(_move(example.shortcuts, at, len(added)) or ()), own])),
        documents=tuple(_widen(each, at, len(added), length) for each in example.documents),
    )


def _choose_place(example: Example, plan: ShortcutPlan, rule: WordRule, rng: random.Random) -> int:
    """A position before a word or at the end; never inside a gold rationale or another shortcut."""
    end = len(example.text)
    if plan.kind in {"punctuation", "token"}:
        return end if plan.kind == "punctuation" else 0
    taken = (*(example.rationale or ()), *(example.shortcuts or ()))
    starts = [start for start, _ in find_word_bounds(example.text, rule)]
    # Some words follow each other without a space (`film` and `.`), and must stay together.
    free = [at for at in starts if at > 0 and example.text[at - 1] in WHITE_SPACE]
    places = [0, *free, end]
    return rng.choice([at for at in places if not any(span.start < at < span.end for span in taken)])


def _choose_spaces(text: str, at: int) -> tuple[str, str]:
    """The white space that sets a shortcut apart from the words around it."""
    before = " " if at > 0 and text[at - 1] not in WHITE_SPACE else ""
    after = " " if at < len(text) else ""
    return before, after


def _move(spans: tuple[Span, ...] | None, at: int, by: int) -> tuple[Span, ...] | None:
    if spans is None:
        return None
    return tuple(
        replace(span, start=span.start + by, end=span.end + by) if span.start >= at else span
        for span in spans
    )


def _widen(document: Document, at: int, by: int, length: int) -> Document:
    """The shortcut becomes part of the document that it stands in; at the very end, of the last one."""
    start, end = document.start, document.end
    last = at == length
    moves = start > at or (last and start == at)
    return replace(document, start=start + by * moves, end=end + by * (end > at or (last and end == at)))
