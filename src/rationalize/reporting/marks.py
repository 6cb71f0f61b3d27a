"""Render each layer in HTML, on a terminal and in plain text.

Every layer has its own shape (block, underline, brackets, scissors), so that it is distinct without color: on paper,
on a monochrome terminal, for color-blind readers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup, escape
from rich.text import Text

from rationalize.printable import make_printable, make_visible
from rationalize.reporting.layers import Layer, Segment, cut_segments
from rationalize.types import Span


@dataclass(frozen=True, slots=True)
class Look:
    """The look of one layer.

    Attributes:
        name: Its name in legends.
        html: The HTML element around the text.
        style: The terminal style.
        plain: Brackets in plain text.
        shown: Signs around the text that stay even with styles.
    """

    name: str
    html: str
    style: str
    plain: tuple[str, str]
    shown: tuple[str, str] = ("", "")


LOOKS = {
    Layer.CUT_OFF: Look("not read", '<i class="cut-off">{}</i>', "dim italic", ("✂(", ")"), ("✂ ", "")),
    Layer.SELECTED: Look("selected by the model", "<mark>{}</mark>", "bold black on yellow", ("[", "]")),
    Layer.GOLD: Look("marked by people", "<u>{}</u>", "underline", ("{", "}")),
    Layer.SHORTCUT: Look("shortcut", '<span class="shortcut">{}</span>', "", ("⟨", "⟩"), ("⟨", "⟩")),
}
"""From the innermost to the outermost."""


def to_html(segments: Iterable[Segment]) -> Markup:
    """Render segments as escaped HTML, to be styled by `templates/highlight.css`."""
    return Markup("").join(_mark_segment(segment) for segment in segments)


def _mark_segment(segment: Segment) -> Markup:
    marked = escape(make_visible(segment.text))
    for layer, look in LOOKS.items():
        if layer in segment.layers:
            left = _mark_sign(look.shown[0]) if layer in segment.begins else ""
            right = _mark_sign(look.shown[1]) if layer in segment.ends else ""
            marked = Markup(look.html).format(Markup("{}{}{}").format(left, marked, right))
    return marked


def _mark_sign(sign: str) -> Markup:
    return Markup('<b class="sign">{}</b>').format(sign) if sign else Markup("")


def to_terminal(segments: Iterable[Segment]) -> Text:
    """Render segments as styled text for a terminal; control codes in the text never reach it."""
    shown = Text()
    for segment in segments:
        style = " ".join(look.style for layer, look in LOOKS.items() if layer in segment.layers)
        shown.append(_join_signs(segment.begins, "shown", 0), style="bold")
        shown.append(make_printable(segment.text), style=style)
        shown.append(_join_signs(segment.ends, "shown", 1), style="bold")
    return shown


def to_plain(segments: Iterable[Segment]) -> str:
    """Render segments as plain text with a pair of brackets for each layer."""
    return "".join(
        _join_signs(segment.begins, "plain", 0)
        + make_printable(segment.text)
        + _join_signs(segment.ends, "plain", 1)
        for segment in segments
    )


def _join_signs(layers: frozenset[Layer], kind: str, side: int) -> str:
    """Join the signs of the layers that begin (side 0, outermost first) or end (side 1) at one place."""
    signs = [getattr(look, kind)[side] for layer, look in LOOKS.items() if layer in layers]
    return "".join(signs if side else reversed(signs))


def make_legend(layers: Iterable[Layer]) -> list[tuple[Segment, ...]]:
    """Make one sample per layer, to be rendered like any other text."""
    wanted = set(layers)
    names = [(layer, LOOKS[layer].name) for layer in Layer if layer in wanted]
    return [cut_segments(name, {layer: [Span(0, len(name))]}) for layer, name in names]
