"""Lazy exports for every room's `__init__`: public names, loaded on first use, and perhaps a call.

Some rooms share their name with a function (`rationalize.methods()`, `rationalize.audit(data)`). Python knows one
thing by that name, the room, so the room itself can be called.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any


def open_room(name: str, homes: Mapping[str, str], verb: str | None = None) -> Callable[[str], Any]:
    """Make a module's `__getattr__`, which finds each exported name in its home, a module of the room.

    With `verb`, one of these names, calling the room calls that function.
    """

    def find(wanted: str) -> Any:
        if wanted not in homes:
            raise AttributeError(f"module {name!r} has no attribute {wanted!r}")
        return getattr(import_module(f"{name}.{homes[wanted]}"), wanted)

    if verb is not None:
        sys.modules[name].__class__ = type("VerbRoom", (_VerbRoom,), {"verb": verb})
    return find


class _VerbRoom(ModuleType):
    """A room that can be called."""

    verb: str

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return getattr(self, self.verb)(*args, **kwargs)

    @property
    def __wrapped__(self) -> Any:
        """The function behind the call, for `inspect.signature`."""
        return getattr(self, self.verb)
