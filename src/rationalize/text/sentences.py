"""Find sentences: one per line if the text has several lines, else up to a period or another stop."""

from __future__ import annotations

import re

from rationalize.types import Span

_LINE = re.compile(r"[^\n]*\S[^\n]*")
# A stop, closing quotes or brackets, then white space; a CJK stop needs no space after it.
_SENTENCE = re.compile(r"\S.*?(?:[.!?…]+[\"'”’)\]]*(?=\s)|[。！？]+|$)", re.DOTALL)


def find_sentences(text: str) -> list[Span]:
    """Return the sentences' spans, in order; together they cover every character except white space."""
    lines = [Span(match.start(), match.end()) for match in _LINE.finditer(text)]
    if len(lines) > 1:
        return lines
    return [Span(match.start(), match.end()) for match in _SENTENCE.finditer(text.rstrip())]
