"""Texts from the command line and from standard input, which may hold bytes that are not UTF-8."""

from __future__ import annotations

import os
import sys
from typing import Literal

from rationalize.errors import DataError

Errors = Literal["strict", "replace"]
"""What to do with bytes that are not UTF-8: an error, or the replacement character."""


def clean_argument(text: str | None, name: str, errors: Errors) -> str | None:
    """Return an argument as whole characters; the system hands over other bytes as halves of surrogate pairs."""
    return None if text is None else _decode(os.fsencode(text) if _is_bytes(text) else text, name, errors)


def read_standard_input(errors: Errors) -> str:
    """Read all of standard input."""
    return _decode(sys.stdin.buffer.read(), "standard input", errors)


def _is_bytes(text: str) -> bool:
    """Return whether every surrogate in a text stands for a byte."""
    return all("\udc80" <= each <= "\udcff" for each in text if "\ud800" <= each <= "\udfff")


def _decode(given: bytes | str, name: str, errors: Errors) -> str:
    try:
        if isinstance(given, str):
            return given.encode("utf-8", errors).decode("utf-8")
        return given.decode("utf-8", errors)
    except UnicodeError as error:
        where = (
            f"at byte {error.start:,}"
            if isinstance(error, UnicodeDecodeError)
            else "in half a surrogate pair"
        )
        raise DataError(
            f"{name}: not UTF-8 {where}. Mend the text, or replace what is wrong.", field="errors"
        ) from None
