"""Replacing words in a text while everything else, gold rationale included, stays what it was."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from rationalize.text.words import WordRule, word_mask, word_spans, would_merge
from rationalize.types import Document, Example, Span


def shortcut_words(example: Example, rule: WordRule) -> list[int]:
    """Indexes of the words that may be replaced: inside a shortcut, and not gold."""
    words = word_spans(example.text, rule)
    marked = word_mask(words, example.shortcuts or ())
    gold = word_mask(words, example.rationale or ())
    return [index for index in range(len(words)) if marked[index] and not gold[index]]


def replace_words(example: Example, new: Mapping[int, str], suffix: str, rule: WordRule) -> Example:
    """The example with some words (by index) replaced, one for one; spans move along with their words."""
    words = word_spans(example.text, rule)
    pieces: list[str] = []
    moved: list[Span] = []
    at = length = 0
    for index, word in enumerate(words):
        text = new.get(index, example.text[word.start : word.end])
        gap = example.text[at : word.start]
        if not gap and {index - 1, index} & new.keys() and pieces and would_merge(pieces[-1], text):
            gap = " "  # two words that touched are to stay two
        pieces += [gap, text]
        start = length + len(gap)
        length = start + len(text)
        moved.append(Span(start, length))
        at = word.end
    pieces.append(example.text[at:])
    return replace(
        example,
        id=f"{example.id}{suffix}",
        text="".join(pieces),
        rationale=_move(words, moved, example.rationale),
        shortcuts=_move(words, moved, example.shortcuts),
        documents=tuple(
            Document(document.id, *_bounds(words, moved, document.start, document.end))
            for document in example.documents
        ),
    )


def _move(
    words: Sequence[Span], moved: Sequence[Span], spans: Iterable[Span] | None
) -> tuple[Span, ...] | None:
    if spans is None:
        return None
    return tuple(Span(*_bounds(words, moved, span.start, span.end), span.group) for span in spans)


def _bounds(words: Sequence[Span], moved: Sequence[Span], start: int, end: int) -> tuple[int, int]:
    return _shift(words, moved, start), _shift(words, moved, end)


def _shift(words: Sequence[Span], moved: Sequence[Span], offset: int) -> int:
    """Where an offset of the old text lies in the new one; inside a replaced word it is kept within the word."""
    from bisect import bisect_right

    index = bisect_right(words, offset, key=lambda word: word.start) - 1
    if index < 0:
        return offset
    old, new = words[index], moved[index]
    if offset <= old.end:
        inside = offset - old.start
        return new.end if offset == old.end else min(new.start + inside, new.end)
    return new.end + (offset - old.end)
