"""Offsets in UTF-16 units and in code points, and what a marked span means in either."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass

from rationalize.data.annotation._tasks import Mark
from rationalize.data.annotation.import_options import Counting

COUNTINGS: tuple[Counting, ...] = ("code_points", "utf16")
_TWO_UNITS = re.compile("[\U00010000-\U0010ffff]")
# Tools show line breaks as spaces or as a backslash and an n, and drop or double spaces.
_LOOSE = re.compile(r"(?:\s|\\[nrt])+")
_EXACT, _LOOSELY = 2, 1


class Utf16:
    """Positions of one text, counted in UTF-16 units: characters beyond U+FFFF are two of them."""

    def __init__(self, text: str) -> None:
        wide = _TWO_UNITS.finditer(text) if not text.isascii() else ()
        self._wide = [match.start() for match in wide]
        self._units = [at + number for number, at in enumerate(self._wide)]
        self.length = len(text) + len(self._wide)

    def to_code_points(self, offset: int) -> int | None:
        """Return the position as code points; None inside a character or outside the text."""
        before = bisect_left(self._units, offset)
        if not 0 <= offset <= self.length or (before and self._units[before - 1] == offset - 1):
            return None
        return offset - before

    def from_code_points(self, offset: int) -> int:
        """Return a position in code points, as UTF-16 units."""
        return offset + bisect_left(self._wide, offset)


@dataclass(frozen=True, slots=True)
class Meaning:
    """A marked span in code points, under one way to count."""

    counting: Counting
    start: int
    end: int


def find_meanings(
    text: str, units: Utf16, mark: Mark, start: int, end: int, allowed: tuple[Counting, ...]
) -> list[Meaning]:
    """Return every way to count that puts the mark inside the text and onto its quote, where it has one.

    Two ways that come to the same place are one: code points. A quote that fits to the letter beats one that fits
    but for white space.
    """
    places = {"code_points": (start, end) if end <= len(text) else None, "utf16": None}
    first, last = units.to_code_points(start), units.to_code_points(end)
    if first is not None and last is not None:
        places["utf16"] = (first, last)
    fits: dict[Counting, int] = {}
    for counting in allowed:
        place = places[counting]
        if place and (counting == allowed[0] or place != places[allowed[0]]):
            fits[counting] = _EXACT if not mark.quote else _fit(text[slice(*place)], mark.quote)
    best = max(fits.values(), default=0)
    return [Meaning(counting, *(places[counting] or ())) for counting, fit in fits.items() if fit == best > 0]


def _fit(piece: str, quote: str) -> int:
    if piece == quote:
        return _EXACT
    return _LOOSELY if _LOOSE.sub("", piece) == _LOOSE.sub("", quote) else 0
