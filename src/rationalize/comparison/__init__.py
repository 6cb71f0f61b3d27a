"""Compare many runs: methods × data sets × seeds × gold shares × augmentations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rationalize._rooms import open_room

if TYPE_CHECKING:
    from rationalize.comparison.comparison import Comparison as Comparison
    from rationalize.comparison.comparison import compare as compare
    from rationalize.comparison.comparison_tables import Compared as Compared
    from rationalize.comparison.plan import Entry as Entry
    from rationalize.comparison.plan import Plan as Plan
    from rationalize.comparison.plan import Transfer as Transfer
    from rationalize.comparison.plan import load_plan as load_plan

_HOMES = {
    "Compared": "comparison_tables",
    "Comparison": "comparison",
    "Entry": "plan",
    "Plan": "plan",
    "Transfer": "plan",
    "compare": "comparison",
    "load_plan": "plan",
}
__all__ = [
    "Compared",
    "Comparison",
    "Entry",
    "Plan",
    "Transfer",
    "compare",
    "load_plan",
]
__getattr__ = open_room(__name__, _HOMES)
