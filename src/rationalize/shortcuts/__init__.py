"""Discover shortcuts, which a model selects but people do not mark, and find them in examples without annotation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rationalize._rooms import open_room

if TYPE_CHECKING:
    from rationalize.shortcuts.finder_score import FinderScore as FinderScore
    from rationalize.shortcuts.finder_score import score_finder as score_finder
    from rationalize.shortcuts.finding import Discovered as Discovered
    from rationalize.shortcuts.finding import choose_min_run as choose_min_run
    from rationalize.shortcuts.finding import discover as discover
    from rationalize.shortcuts.finding import random_shortcuts as random_shortcuts
    from rationalize.shortcuts.propagate import PhraseBook as PhraseBook
    from rationalize.shortcuts.propagate import phrases_to_carry as phrases_to_carry
    from rationalize.shortcuts.statistics import describe_shortcuts as describe_shortcuts
    from rationalize.shortcuts.statistics import measure_coverage as measure_coverage

_HOMES = {
    "Discovered": "finding",
    "FinderScore": "finder_score",
    "PhraseBook": "propagate",
    "choose_min_run": "finding",
    "measure_coverage": "statistics",
    "describe_shortcuts": "statistics",
    "discover": "finding",
    "phrases_to_carry": "propagate",
    "random_shortcuts": "finding",
    "score_finder": "finder_score",
}
__all__ = [
    "Discovered",
    "FinderScore",
    "PhraseBook",
    "choose_min_run",
    "describe_shortcuts",
    "discover",
    "measure_coverage",
    "phrases_to_carry",
    "random_shortcuts",
    "score_finder",
]
__getattr__ = open_room(__name__, _HOMES)
