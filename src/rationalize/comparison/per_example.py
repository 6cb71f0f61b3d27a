"""What tests need of every example of a cell: a few numbers, no text."""

from __future__ import annotations

from collections.abc import Sequence

from rationalize.evaluation.scoring import to_instances
from rationalize.inference.engine import Explained
from rationalize.metrics.instance import ScoredInstance
from rationalize.metrics.tokens import token_counts


def columns(items: Sequence[Explained]) -> dict[str, list[float | None]]:
    """One number per example, in their order: label right, token F1, shortcut words of the selected ones."""
    table: dict[str, list[float | None]] = {"correct": [], "token_f1": [], "shortcut_share": []}
    for item in items:
        instances = to_instances(item)
        gold, said = instances[0].gold_label, instances[0].label
        scores = [score for each in instances if (score := _token_f1(each)) is not None]
        table["correct"].append(None if gold is None else int(said == gold))
        table["token_f1"].append(round(sum(scores) / len(scores), 4) if scores else None)
        table["shortcut_share"].append(_shortcut_share(instances))
    return table


def _token_f1(instance: ScoredInstance) -> float | None:
    """As ERASER has it: where neither gold nor selected words are, nothing is counted."""
    if instance.gold is None:
        return None
    counts = token_counts(instance.gold_mask, instance.selected)
    return 2 * counts.hits / (counts.gold + counts.predicted) if counts.gold + counts.predicted else None


def _shortcut_share(instances: Sequence[ScoredInstance]) -> float | None:
    """Of the selected words; 0 where nothing is selected, None where shortcuts are not known."""
    known = [each for each in instances if each.shortcut_words is not None]
    counts = [token_counts(each.shortcut_words or (), each.selected) for each in known]
    selected = sum(each.predicted for each in counts)
    if not known:
        return None
    return round(sum(each.hits for each in counts) / selected, 4) if selected else 0.0
