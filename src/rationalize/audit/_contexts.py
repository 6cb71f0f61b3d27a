"""Examples of a phrase in its sentence, for a person to judge."""

from __future__ import annotations

import numpy as np

from rationalize.audit.audit_result import Context
from rationalize.seeding import derive_seed
from rationalize.shortcuts.excerpt import Excerpt
from rationalize.shortcuts.merging import PhrasePlaces
from rationalize.shortcuts.phrases import Ints, Texts
from rationalize.types import Example, Span

AROUND = 14
"""Maximum number of words shown on each side."""


def choose_places(
    excerpt: Excerpt, places: PhrasePlaces, labels: Ints, label: int, count: int, seed: int
) -> list[tuple[int, int]]:
    """Choose some occurrences, each in another document; the last one has another label, if any does.

    Returns:
        Positions and lengths.
    """
    origins = excerpt.origins[places.positions].tolist()
    keys = [derive_seed(seed, "audit context", origin) for origin in origins]
    order = np.argsort(np.array(keys, dtype=np.int64))
    documents = excerpt.texts.documents[places.positions[order]]
    chosen = order[np.sort(np.unique(documents, return_index=True)[1])]
    fits = labels[excerpt.texts.documents[places.positions[chosen]]] == label
    with_it, against = chosen[fits], chosen[~fits]
    few = max(count - 1, 1) if len(against) else count
    shown = [*with_it[:few], *against[:count]][:count]
    return [(int(places.positions[each]), int(places.lengths[each])) for each in shown]


def make_context(texts: Texts, example: Example, position: int, length: int) -> Context:
    """Return what is around an occurrence in its document."""
    first, last = position, position + length - 1
    left, right = (_find_reach(texts, edge, step) for edge, step in ((first, -1), (last, 1)))
    start, end = int(texts.starts[left]), int(texts.ends[right])
    own = texts.get_span(position, length)
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
