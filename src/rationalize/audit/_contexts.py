"""Examples of a phrase in its sentence, for a person to judge."""

from __future__ import annotations

from collections.abc import Sequence

from rationalize.audit.audit_result import Context
from rationalize.seeding import derive_seed
from rationalize.shortcuts.merging import Place
from rationalize.shortcuts.phrases import Texts
from rationalize.types import Example, Span

AROUND = 14
"""Maximum number of words shown on each side."""


def choose_contexts(
    texts: Texts, places: Sequence[Place], label: str, count: int, seed: int
) -> tuple[Context, ...]:
    """Choose some occurrences, each in another document; the last one has another label, if any does."""
    shuffled = sorted(places, key=lambda place: derive_seed(seed, "audit context", place.position))
    by_document = {int(texts.documents[place.position]): place for place in reversed(shuffled)}
    chosen = list(by_document.values())[::-1]
    against = [place for place in chosen if _get_example(texts, place).label != label]
    with_it = [place for place in chosen if _get_example(texts, place).label == label]
    few = max(count - 1, 1) if against else count
    return tuple(_make_context(texts, place) for place in [*with_it[:few], *against][:count])


def _get_example(texts: Texts, place: Place) -> Example:
    example: Example = texts.examples[int(texts.documents[place.position])]
    return example


def _make_context(texts: Texts, place: Place) -> Context:
    example = _get_example(texts, place)
    first, last = place.position, place.position + place.length - 1
    left, right = (_find_reach(texts, edge, step) for edge, step in ((first, -1), (last, 1)))
    start, end = int(texts.starts[left]), int(texts.ends[right])
    own = texts.get_span(place.position, place.length)
    return Context(
        id=example.id,
        label=str(example.label),
        text=example.text[start:end],
        shortcuts=(Span(own.start - start, own.end - start),),
        gold=tuple(
            Span(max(span.start, start) - start, min(span.end, end) - start)
            for span in example.rationale or ()
            if span.start < end and span.end > start
        ),
    )


def _find_reach(texts: Texts, edge: int, step: int) -> int:
    """Find the furthest word from the edge that is in the same sentence and near enough."""
    furthest = edge
    for position in range(edge + step, edge + step * (AROUND + 1), step):
        inside = 0 <= position < len(texts.words)
        if not inside or texts.sentences[position] != texts.sentences[edge]:
            break
        furthest = position
    return furthest
