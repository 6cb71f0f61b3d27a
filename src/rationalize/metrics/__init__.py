"""Pure functions from numbers to numbers, checked against golden values.

`score_table.score` computes all numbers of a split from its `ScoredInstance`s; `score_table.trivial_rows` those of
trivial selectors, which ignore the text; `health.selector_health` warns if the selector collapsed. The other files
hold the definitions, one family each.
"""

from __future__ import annotations

from rationalize.metrics.ablations import Ablation, faithfulness_row
from rationalize.metrics.health import SelectorHealth, selector_health
from rationalize.metrics.instance import ScoredInstance
from rationalize.metrics.named_metrics import NamedMetrics, TrivialRow
from rationalize.metrics.score_table import score, trivial_rows
from rationalize.metrics.shortcut_words import distribution_gap

__all__ = [
    "Ablation",
    "NamedMetrics",
    "ScoredInstance",
    "SelectorHealth",
    "TrivialRow",
    "distribution_gap",
    "faithfulness_row",
    "score",
    "selector_health",
    "trivial_rows",
]
