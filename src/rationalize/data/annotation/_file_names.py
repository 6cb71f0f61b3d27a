"""Ids and labels as names of files and folders, and back."""

from __future__ import annotations

from urllib.parse import quote, unquote

_LONGEST = 200  # bytes; file systems take 255, endings included


def encode_name(text: str) -> str | None:
    """Return a text as a file name, with forbidden characters as `%XX`; None if it would be too long or empty."""
    name = quote(text, safe=" ,;()@+=")
    name = name.replace("~", "%7E")
    if name.startswith((".", " ")):
        name = f"%{ord(name[0]):02X}{name[1:]}"
    if name.endswith((".", " ")):
        name = f"{name[:-1]}%{ord(name[-1]):02X}"
    return name if name and len(name) <= _LONGEST else None


def decode_name(name: str) -> str:
    """Return the text behind a file name; a name that is no such text stands for itself."""
    try:
        return unquote(name, errors="strict")
    except UnicodeDecodeError:
        return name
