"""Where sentences lie: lines, where the text has several; else stretches that end in a full stop and the like."""

from __future__ import annotations

import re

from rationalize.types import Span

_LINE = re.compile(r"[^\n]*\S[^\n]*")
# A stop, closing quotes or brackets, then white space; or a CJK stop, after which no space is needed.
_SENTENCE = re.compile(r"\S.*?(?:[.!?…]+[\"'”’)\]]*(?=\s)|[。！？]+|$)", re.DOTALL)


def sentence_spans(text: str) -> list[Span]:
    """Spans of the sentences, in order; together they hold every character that is not white space."""
    lines = [Span(match.start(), match.end()) for match in _LINE.finditer(text)]
    if len(lines) > 1:
        return lines
    return [Span(match.start(), match.end()) for match in _SENTENCE.finditer(text.rstrip())]
