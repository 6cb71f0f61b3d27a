"""The registry of methods. A method is one file in this folder with one decorator; other packages add theirs
through the entry-point group `rationalize.methods`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module, metadata
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Literal, TypeVar

from rationalize.config import Augmentation
from rationalize.errors import ConfigError

if TYPE_CHECKING:
    from rationalize.methods.base import Method

    AnyMethod = TypeVar("AnyMethod", bound=Method)

Supervision = Literal["none", "part", "full"]


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """The facts about a method.

    Attributes:
        name: The id, equal to the file's name.
        title: The name that papers use.
        supervision: Gold rationales needed in training: none, part of the examples, or full.
        reference: Authors, venue and year.
        cite: First author and year.
        faithful: Whether the label depends on the selected words alone, unless an option changes that.
        headline: How it works, in one line.
        needs_shortcuts: Whether shortcuts are discovered in the gold pool before training.
        needs_marks: Whether it learns a label from marked words alone, so that every label needs some.
        uniform_weight: Weight of the uniform term on shortcuts, unless the run sets another.
        augment: Kind of augmented copies that it learns from, unless the run sets another.
    """

    name: str
    title: str
    supervision: Supervision
    reference: str
    cite: str
    faithful: bool
    headline: str
    needs_shortcuts: bool = False
    needs_marks: bool = False
    uniform_weight: float = 0.0
    augment: Augmentation = "none"


_METHODS: dict[str, type[Method]] = {}


def register(about: About) -> Callable[[type[AnyMethod]], type[AnyMethod]]:
    """Return a decorator that gives a class its `about` and registers it under the name there."""
    name = about.name
    if not name.isidentifier() or name != name.lower():
        raise ValueError(f"method id {name!r}: expected lower-case letters, digits and underscores")

    def add(cls: type[AnyMethod]) -> type[AnyMethod]:
        if _METHODS.get(name, cls) is not cls:
            raise ValueError(f"there is already a method called {name!r}: {_METHODS[name].__module__}")
        cls.about = about
        _METHODS[name] = cls
        return cls

    return add


@cache
def _discover() -> None:
    """Import every file of this folder, once, then the methods of other packages."""
    package = import_module("rationalize.methods")
    for module in iter_modules(package.__path__):
        import_module(f"rationalize.methods.{module.name}")
    for entry in metadata.entry_points(group="rationalize.methods"):
        entry.load()


def list_names() -> list[str]:
    """List the ids of all methods, sorted."""
    _discover()
    return sorted(_METHODS)


def method_class(name: str) -> type[Method]:
    """Return a method's class; the error for an unknown id lists the known ones."""
    _discover()
    if name not in _METHODS:
        raise ConfigError(f"method {name!r} is unknown. Known: {', '.join(sorted(_METHODS))}.")
    return _METHODS[name]


def list_methods() -> list[About]:
    """List the facts about every method, sorted by name."""
    return [method_class(name).about for name in list_names()]
