"""Search settings: train with many, keep what dev likes best."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rationalize._rooms import open_room

if TYPE_CHECKING:
    from rationalize.tuning.search_plan import SearchPlan as SearchPlan
    from rationalize.tuning.search_plan import load_search_plan as load_search_plan
    from rationalize.tuning.tuner import TuningOutcome as TuningOutcome
    from rationalize.tuning.tuner import tune as tune
    from rationalize.tuning.tuning_report import make_tuning_report as make_tuning_report

_HOMES = {
    "SearchPlan": "search_plan",
    "TuningOutcome": "tuner",
    "load_search_plan": "search_plan",
    "make_tuning_report": "tuning_report",
    "tune": "tuner",
}
__all__ = ["SearchPlan", "TuningOutcome", "load_search_plan", "make_tuning_report", "tune"]
__getattr__ = open_room(__name__, _HOMES)
