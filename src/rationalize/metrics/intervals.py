"""How far a score may be off because the split is only a sample: 95 % intervals in closed form.

Task scores: Wilson's interval of a share of right labels, which is neither empty at 0 or 1 nor outside of them. For the
weighted F1 it is taken around the F1: the two differ by little, and so do their errors. Token F1: the mean over
documents ± 1.96 standard errors. Examples of one text (several questions about it) err together: they count as fewer.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence

from rationalize.metrics.instance import ScoredInstance
from rationalize.metrics.named_metrics import Metrics
from rationalize.metrics.sections import LABEL_FIELDS, list_label_pairs
from rationalize.metrics.significance import Interval
from rationalize.metrics.tokens import token_scores_eraser

Z = 1.959964
"""95 % of a normal distribution is within this many standard deviations."""


def wilson(share: float, n: float) -> Interval:
    """Return Wilson's interval of a share seen in `n` independent examples."""
    weight = Z * Z / n
    middle = (share + weight / 2) / (1 + weight)
    reach = Z * math.sqrt(share * (1 - share) / n + weight / (4 * n)) / (1 + weight)
    return Interval(max(0.0, middle - reach), min(1.0, middle + reach))


def count_independent(values: Sequence[float], groups: Sequence[Hashable]) -> float:
    """Return how many independent values say as much about the mean as these, which err together within a group."""
    n, mean = len(values), math.fsum(values) / len(values)
    alone = math.fsum((value - mean) ** 2 for value in values)
    together = _sum_squares(values, groups, mean)
    if (
        not together
    ):  # no value differs, or every group is right on average: a group says as much as one value
        return float(len(set(groups)))
    return min(float(n), n * alone / together)


def mean_interval(values: Sequence[float], groups: Sequence[Hashable]) -> Interval:
    """Return the interval of a mean of values between 0 and 1."""
    n, mean = len(values), math.fsum(values) / len(values)
    alone = math.fsum((value - mean) ** 2 for value in values)
    reach = Z * math.sqrt(max(alone, _sum_squares(values, groups, mean))) / n
    return Interval(max(0.0, mean - reach), min(1.0, mean + reach))


def score_intervals(
    instances: Iterable[ScoredInstance], metrics: Metrics, texts: Mapping[str, Hashable] | None = None
) -> dict[str, Interval]:
    """Return the intervals of the task scores and of ERASER's token F1, by the scores' names.

    Args:
        instances: As for `score`.
        metrics: What `score` made of them.
        texts: The text of each example, by id, where several examples may have the same. None: all differ.
    """
    rows, texts = list(instances), texts or {}
    found: dict[str, Interval] = {}
    for field in LABEL_FIELDS[1:]:
        pairs = list_label_pairs(rows, field)
        groups = [texts.get(each.id, each.id) for each in pairs]
        n = count_independent([float(each.gold == each.label) for each in pairs], groups) if pairs else 0.0
        for score in ("task_f1_weighted", "task_accuracy"):
            name = f"{score}{field.removeprefix('label')}"
            value = metrics.get(name)
            if value is not None:
                found[name] = wilson(value, n)
    return found | _token_interval(rows, texts)


def _token_interval(rows: Sequence[ScoredInstance], texts: Mapping[str, Hashable]) -> dict[str, Interval]:
    values, groups = [], []
    for each in rows:
        scores = token_scores_eraser([(each.gold_mask, each.selected)]) if each.gold is not None else None
        if scores:
            values.append(scores.macro.f1)
            groups.append(texts.get(each.id, each.id))
    return {"token_f1_eraser": mean_interval(values, groups)} if values else {}


def _sum_squares(values: Sequence[float], groups: Sequence[Hashable], mean: float) -> float:
    """Return the sum over groups of the squared sum of their deviations."""
    sums: dict[Hashable, float] = defaultdict(float)
    for value, group in zip(values, groups, strict=True):
        sums[group] += value - mean
    return math.fsum(each * each for each in sums.values())
