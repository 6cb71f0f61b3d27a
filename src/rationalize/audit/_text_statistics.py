"""What a text looks like, apart from what it says: its length, punctuation, casing, and signs of the web."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from rationalize.audit._column_values import Value
from rationalize.shortcuts.phrases import Ints
from rationalize.types import Example

MOST = 3  # more than this many of a sign are one group

_EMOJI = re.compile("[\U0001f300-\U0001faff\u2600-\u27bf]")
_EMOTICON = re.compile(r"(?<!\w)[:;=8][-o*']?[)(\[\]dDpP/\\|]|<3")


def list_statistics(examples: Sequence[Example], lengths: Ints) -> dict[str, list[Value]]:
    """Measure all texts, given their numbers of words; a list of values for each statistic."""
    texts = [example.text for example in examples]
    return {
        "length in words": lengths.tolist(),
        **{name: [count(text) for text in texts] for name, count in SIGNS.items()},
    }


def _count(pattern: str | re.Pattern[str]) -> Callable[[str], Value]:
    found = re.compile(pattern)

    def count(text: str) -> Value:
        times = sum(1 for _ in found.finditer(text))
        return str(times) if times < MOST else f"{MOST} or more"

    return count


def _name_end(text: str) -> Value:
    last = text.rstrip()[-1:]
    return (
        last
        if last in {".", "!", "?", "…", '"', ")"}
        else "a letter or digit"
        if last.isalnum()
        else "another sign"
    )


def _name_start(text: str) -> Value:
    first = text.lstrip()[:1]
    return "a capital letter" if first.isupper() else "a small letter" if first.islower() else "another sign"


SIGNS: dict[str, Callable[[str], Value]] = {
    "exclamation marks": _count("!"),
    "question marks": _count(r"\?"),
    "dots in a row": _count(r"\.\.+|…"),
    "quotation marks": _count('["“”]'),
    "words in capitals": _count(r"\b[^\W\d_a-z]{2,}\b"),
    "numbers": _count(r"\d+"),
    "links": _count(r"https?://|www\."),
    "mentions": _count(r"(?<!\w)@\w+"),
    "hashtags": _count(r"(?<!\w)#\w+"),
    "emoji": _count(_EMOJI),
    "emoticons": _count(_EMOTICON),
    "last character": _name_end,
    "first character": _name_start,
}
