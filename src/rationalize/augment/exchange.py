"""Exchange: the shortcuts of all examples are shuffled and dealt out anew, whatever the labels.

Each text keeps its evidence, its label and the number of its shortcuts; what it loses is the bond between shortcut and
label. Shortcuts are then as frequent as before, and of no use.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rationalize.seeding import derive_seed
from rationalize.text.replace import replace_spans
from rationalize.types import Example, Span


def exchange_shortcuts(examples: Sequence[Example], seed: int) -> list[Example]:
    """Return the examples, each shortcut replaced by one of any example; those that touch gold stay."""
    places = [(example, span) for example in examples for span in _list_free(example)]
    pool = [example.text[span.start : span.end] for example, span in places]
    drawn = sorted(range(len(pool)), key=lambda index: derive_seed(seed, "exchange", index))
    new: dict[str, dict[Span, str]] = {}
    for (example, span), index in zip(places, drawn, strict=True):
        new.setdefault(example.id, {})[span] = pool[index]
    return [replace_spans(example, new[example.id]) if example.id in new else example for example in examples]


def _list_free(example: Example) -> Iterator[Span]:
    """Yield the shortcuts that share no character with gold or with a shortcut before."""
    at = 0
    for span in sorted(example.shortcuts or (), key=lambda each: (each.start, each.end)):
        marked = any(map(span.overlaps, example.rationale or ()))
        if span.start >= at and not marked:
            yield span
            at = span.end
