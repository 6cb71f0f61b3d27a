"""Replace words in a text and keep everything else as it is, gold rationale included."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from rationalize.text.words import WordRule, word_mask, word_spans, would_merge
from rationalize.types import Document, Example, Span


def find_replaceable_words(example: Example, rule: WordRule) -> list[int]:
    """Return the indexes of words that may be replaced: inside a shortcut, and not gold."""
    words = word_spans(example.text, rule)
    marked = word_mask(words, example.shortcuts or ())
    gold = word_mask(words, example.rationale or ())
    return [index for index in range(len(words)) if marked[index] and not gold[index]]


def replace_words(example: Example, new: Mapping[int, str], suffix: str, rule: WordRule) -> Example:
    """Return the example with some words (by index) replaced one for one; spans move with their words."""
    words = word_spans(example.text, rule)
    pieces: list[str] = []
    moved: list[Span] = []
    at = length = 0
    for index, word in enumerate(words):
        text = new.get(index, example.text[word.start : word.end])
        gap = example.text[at : word.start]
        if not gap and {index - 1, index} & new.keys() and pieces and would_merge(pieces[-1], text):
            gap = " "  # adjacent words stay two words
        pieces += [gap, text]
        start = length + len(gap)
        length = start + len(text)
        moved.append(Span(start, length))
        at = word.end
    pieces.append(example.text[at:])
    return _change_text(example, "".join(pieces), suffix, partial(_move_offset, words, moved))


def replace_spans(example: Example, new: Mapping[Span, str], suffix: str = "") -> Example:
    """Return the example with stretches of its text replaced; they may not overlap, and other spans move along."""
    places = sorted(new, key=lambda span: span.start)
    pieces: list[str] = []
    at = 0
    for place in places:
        pieces += [example.text[at : place.start], new[place]]
        at = place.end
    shifts = [(place, len(new[place]) - (place.end - place.start)) for place in places]

    def move(offset: int) -> int:
        return offset + sum(shift for place, shift in shifts if place.end <= offset)

    return _change_text(example, "".join((*pieces, example.text[at:])), suffix, move)


def _change_text(example: Example, text: str, suffix: str, move: Callable[[int], int]) -> Example:
    """Return the example with another text; `move` maps offsets in the old text to the new one."""

    def move_spans(spans: Iterable[Span] | None) -> tuple[Span, ...] | None:
        if spans is None:
            return None
        return tuple(Span(move(span.start), move(span.end), span.group) for span in spans)

    return replace(
        example,
        id=f"{example.id}{suffix}",
        text=text,
        rationale=move_spans(example.rationale),
        shortcuts=move_spans(example.shortcuts),
        documents=tuple(
            Document(document.id, move(document.start), move(document.end)) for document in example.documents
        ),
    )


def _move_offset(words: Sequence[Span], moved: Sequence[Span], offset: int) -> int:
    """Map an offset in the old text to the new text; an offset inside a replaced word stays inside it."""
    from bisect import bisect_right

    index = bisect_right(words, offset, key=lambda word: word.start) - 1
    if index < 0:
        return offset
    old, new = words[index], moved[index]
    if offset <= old.end:
        inside = offset - old.start
        return new.end if offset == old.end else min(new.start + inside, new.end)
    return new.end + (offset - old.end)
