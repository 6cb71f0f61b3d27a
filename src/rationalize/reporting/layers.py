"""Layers of marks on a text: the model's rationale, people's rationale, shortcuts, and the part not read."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from rationalize.types import Explanation, Span


class Layer(StrEnum):
    """One kind of mark on a text."""

    SELECTED = "selected"
    GOLD = "gold"
    SHORTCUT = "shortcut"
    CUT_OFF = "cut_off"


Layers = Mapping[Layer, Iterable[Span]]


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of text with the same layers throughout.

    Attributes:
        text: The characters.
        layers: The layers on all of them.
        begins: Layers that begin here.
        ends: Layers that end here.
    """

    text: str
    layers: frozenset[Layer]
    begins: frozenset[Layer]
    ends: frozenset[Layer]


def cut_segments(text: str, layers: Layers) -> tuple[Segment, ...]:
    """Cut a text where any layer begins or ends. The joined segments are the text.

    Spans may overlap; parts outside the text are ignored.
    """
    stretches = _find_stretches(text, layers)
    nothing: frozenset[Layer] = frozenset()
    before = [nothing, *(active for _, active in stretches)]
    after = [*(active for _, active in stretches[1:]), nothing]
    ends = [*(start for start, _ in stretches[1:]), len(text)]
    return tuple(
        Segment(text[start:end], active, active - left, active - right)
        for (start, active), end, left, right in zip(stretches, ends, before, after)
    )


def _find_stretches(text: str, layers: Layers) -> list[tuple[int, frozenset[Layer]]]:
    """Find where each segment starts, and its layers; neighbors differ."""
    changes = _count_changes(text, layers)
    depth: Counter[Layer] = Counter()
    found: list[tuple[int, frozenset[Layer]]] = []
    for position in sorted(changes):
        depth.update(changes[position])
        active = frozenset(layer for layer, count in depth.items() if count > 0)
        if position < len(text) and (not found or found[-1][1] != active):
            found.append((position, active))
    return found


def _count_changes(text: str, layers: Layers) -> dict[int, Counter[Layer]]:
    """Count, by position, the spans of each layer that begin there minus those that end there."""
    changes: defaultdict[int, Counter[Layer]] = defaultdict(Counter, {0: Counter()})
    for layer, spans in layers.items():
        for span in spans:
            start, end = max(span.start, 0), min(span.end, len(text))
            if start < end:
                changes[start][layer] += 1
                changes[end][layer] -= 1
    return changes


def collect_layers(
    explanation: Explanation, *, gold: Iterable[Span] | None = None, shortcuts: Iterable[Span] | None = None
) -> dict[Layer, tuple[Span, ...]]:
    """Collect the layers of an explained text; an empty layer is left out."""
    layers = {
        Layer.SELECTED: explanation.spans,
        Layer.GOLD: tuple(gold or ()),
        Layer.SHORTCUT: tuple(shortcuts or ()),
        Layer.CUT_OFF: (explanation.cut_off,) if explanation.cut_off else (),
    }
    return {layer: spans for layer, spans in layers.items() if spans}
