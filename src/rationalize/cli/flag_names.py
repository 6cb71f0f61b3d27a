"""What the fields in a message are called on the command line: the library names fields, the verbs add their flags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from rationalize.errors import RationalizeError


@contextmanager
def add_flags(flags: Mapping[str, str]) -> Iterator[None]:
    """Add the flags of those fields that a user's error names in backticks."""
    try:
        yield
    except RationalizeError as error:
        named = [f"`{field}` is {flag}" for field, flag in flags.items() if f"`{field}`" in str(error)]
        if not named:
            raise
        raise type(error)(f"{error}\nOn the command line, {'; '.join(named)}.") from error
