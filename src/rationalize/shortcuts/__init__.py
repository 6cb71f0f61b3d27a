"""Discover shortcuts, which a model selects but people do not mark, and find them in examples without annotation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rationalize._rooms import open_room

if TYPE_CHECKING:
    from rationalize.shortcuts.finding import Discovered as Discovered
    from rationalize.shortcuts.finding import discover as discover
    from rationalize.shortcuts.finding import random_shortcuts as random_shortcuts
    from rationalize.shortcuts.propagate import PhraseBook as PhraseBook
    from rationalize.shortcuts.propagate import phrases_to_carry as phrases_to_carry
    from rationalize.shortcuts.statistics import describe_shortcuts as describe_shortcuts
    from rationalize.shortcuts.statistics import measure_coverage as measure_coverage

_HOMES = {
    "Discovered": "finding",
    "PhraseBook": "propagate",
    "measure_coverage": "statistics",
    "describe_shortcuts": "statistics",
    "discover": "finding",
    "phrases_to_carry": "propagate",
    "random_shortcuts": "finding",
}
__all__ = [
    "Discovered",
    "PhraseBook",
    "describe_shortcuts",
    "discover",
    "measure_coverage",
    "phrases_to_carry",
    "random_shortcuts",
]
__getattr__ = open_room(__name__, _HOMES)
