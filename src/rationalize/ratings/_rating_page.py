"""The page on which a person rates one rationale at a time, with its style and script inside."""

from __future__ import annotations

from rationalize.ratings._session import View
from rationalize.reporting.layers import Layer, cut_segments
from rationalize.reporting.marks import to_html
from rationalize.reporting.templating import render


def render_rating_page(view: View, token: str, nonce: str) -> str:
    """Render the page as HTML, with all data escaped."""
    item = view.item
    text = to_html(cut_segments(item.text, {Layer.SELECTED: item.marked})) if item else ""
    return render(
        "rating.html.j2",
        view=view,
        guide=view.study.info.guide,
        text=text,
        token=token,
        nonce=nonce,
        left=view.total - view.done,
    )
