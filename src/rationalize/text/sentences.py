"""Find sentences: one per line if the text has several lines, else up to a period or another stop.

In linear time whatever the text is: no pattern looks twice at a long run of stops or of white space.
"""

from __future__ import annotations

import re

from rationalize.types import Span

_LINE = re.compile(r"[^\n]+")
# A run of stops, closing quotes or brackets, then white space; a CJK stop needs no space after it.
_STOP = re.compile(r"(?<![.!?…])([.!?…]++)[\"'”’)\]]*+(?=\s)|([。！？]++)")
_BLANK = re.compile(r"\s*+")


def find_sentences(text: str) -> list[Span]:
    """Return the sentences' spans, in order; together they cover every character except white space."""
    lines = [Span(*match.span()) for match in _LINE.finditer(text) if not match.group().isspace()]
    return lines if len(lines) > 1 else _cut_at_stops(text.rstrip())


def _cut_at_stops(text: str) -> list[Span]:
    found: list[Span] = []
    start = _skip_blank(text, 0)
    for match in _STOP.finditer(text):
        # A sentence begins with any character, a stop too; what ends it comes after.
        if match.end(match.lastindex or 0) > start + 1 and match.end() > start:
            found.append(Span(start, match.end()))
            start = _skip_blank(text, match.end())
    return [*found, Span(start, len(text))] if start < len(text) else found


def _skip_blank(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at
