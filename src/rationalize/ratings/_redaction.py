"""Keep a key out of everything shown and stored, however a server spells it."""

from __future__ import annotations

import base64
import html
import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import unquote

WITHHELD = "(message withheld: it repeats the key)"
_ROUNDS = 4  # escapes inside escapes
_WINDOW = 10  # letters and digits of a key in a row that do not occur by chance
_ESCAPE = re.compile(r"(?:\\+|%)u\{?([0-9a-fA-F]{4})\}?|\\+x([0-9a-fA-F]{2})|\\+([0-7]{3})|\\+[abfnrtv0]")


def tidy(text: str, key: str | None, most: int = 300) -> str:
    """Shorten outside text to one line without control characters; withhold it if it holds the key."""
    if key and holds_key(text, key):
        return WITHHELD
    line = " ".join(text.split())
    shown = "".join(character if character.isprintable() else "?" for character in line)
    return shown if len(shown) <= most else f"{shown[:most]}…"


def holds_key(text: str, key: str) -> bool:
    """Return whether the text holds the key or a revealing part of it: as is, escaped (JSON, percent, HTML), in
    base 64 or hexadecimal, in another letter case, or with other characters mixed in."""
    needles = _make_needles(key)
    for spelling in _undo_escapes(text):
        bare = _squash(spelling)
        if key in spelling or any(needle in bare for needle in needles):
            return True
    return False


def _make_needles(key: str) -> set[str]:
    bare = _squash(key)
    if len(bare) < _WINDOW:  # so short that scattered letters may spell it by chance
        windows = {bare} if len(bare) > _WINDOW // 2 else set()
    else:
        windows = {bare[start : start + _WINDOW] for start in range(len(bare) - _WINDOW + 1)}
    return windows | _encode_key(key)


def _encode_key(key: str) -> set[str]:
    """Return the key in hexadecimal, and in base 64 after zero, one or two other bytes."""
    found = {key.encode().hex()}
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + key.encode()).decode().rstrip("=")
        # The characters at both ends also encode bits next to the key.
        found.add(_squash(encoded[-(-before * 4 // 3) : -1]))
    return {each for each in found if len(each) >= _WINDOW}


def _squash(text: str) -> str:
    """Keep letters and digits only, in lower case."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text))).casefold()


def _undo_escapes(text: str) -> Iterator[str]:
    """Yield the text, and its versions as escapes are undone one after the other."""
    yield text
    for _ in range(_ROUNDS):
        before = text
        for undo in (_undo_json, unquote, html.unescape):
            text = undo(text)
            yield text
        if text == before:
            return


def _undo_json(text: str) -> str:
    def undo(match: re.Match[str]) -> str:
        hexadecimal, octal = match[1] or match[2], match[3]
        return chr(int(hexadecimal or octal, 16 if hexadecimal else 8)) if hexadecimal or octal else " "

    return _ESCAPE.sub(undo, text)
