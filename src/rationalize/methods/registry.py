"""Which methods there are. A method is one file in this folder with one decorator; other packages add theirs
through the entry-point group `rationalize.methods`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module, metadata
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Literal, TypeVar

from rationalize.errors import ConfigError

if TYPE_CHECKING:
    from rationalize.methods.base import Method

    AnyMethod = TypeVar("AnyMethod", bound=Method)

Supervision = Literal["none", "part", "full"]


@dataclass(frozen=True, slots=True)
class About:
    """What the list of methods says of one.

    Attributes:
        name: The id, equal to the file's name.
        title: The name that papers use.
        supervision: Gold rationales needed in training: none, part of the examples, or full.
        reference: Where it was published.
        faithful: Whether the label depends on the selected words alone.
        headline: How it works, in one line.
        passes_train: Encoder passes per training step.
        passes_explain: Encoder passes per explanation.
        needs_shortcuts: Whether shortcuts are looked for in the gold pool before training.
        needs_rest: Whether it makes no sense when every training example has a gold rationale.
    """

    name: str
    title: str
    supervision: Supervision
    reference: str
    faithful: bool
    headline: str
    passes_train: str
    passes_explain: str
    needs_shortcuts: bool = False
    needs_rest: bool = False


_METHODS: dict[str, type[Method]] = {}


def register(
    name: str,
    *,
    title: str,
    supervision: Supervision,
    reference: str,
    faithful: bool,
    headline: str,
    passes_train: str,
    passes_explain: str,
    needs_shortcuts: bool = False,
    needs_rest: bool = False,
) -> Callable[[type[AnyMethod]], type[AnyMethod]]:
    """Make a class known as the method `name`."""
    if not name.isidentifier() or name != name.lower():
        raise ValueError(f"method id {name!r}: expected lower-case letters, digits and underscores")

    def add(cls: type[AnyMethod]) -> type[AnyMethod]:
        if name in _METHODS and _METHODS[name] is not cls:
            raise ValueError(f"there is already a method called {name!r}: {_METHODS[name].__module__}")
        cls.about = About(
            name,
            title,
            supervision,
            reference,
            faithful,
            headline,
            passes_train,
            passes_explain,
            needs_shortcuts,
            needs_rest,
        )
        _METHODS[name] = cls
        return cls

    return add


@cache
def _discover() -> None:
    """Import every file of this folder (once), then what other packages offer."""
    package = import_module("rationalize.methods")
    for module in iter_modules(package.__path__):
        import_module(f"rationalize.methods.{module.name}")
    for entry in metadata.entry_points(group="rationalize.methods"):
        entry.load()


def names() -> list[str]:
    """Ids of all methods, sorted."""
    _discover()
    return sorted(_METHODS)


def method_class(name: str) -> type[Method]:
    """The class of a method; an unknown id is an error that lists the known ones."""
    _discover()
    if name not in _METHODS:
        raise ConfigError(f"method {name!r} is unknown. Known: {', '.join(sorted(_METHODS))}.")
    return _METHODS[name]
