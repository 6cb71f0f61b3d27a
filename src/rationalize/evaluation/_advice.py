"""What to try next, by what a model did not reach."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from rationalize.errors import ConfigError
from rationalize.evaluation.evaluation import Evaluation
from rationalize.methods.registry import method_class

ENOUGH = 300
"""Examples below which scores say little."""


def advise(found: Evaluation, failed: Collection[str]) -> tuple[str, ...]:
    """List what to try next; `failed` has the topics of the comparisons that do not hold."""
    advice = tuple(_list_advice(found, failed))
    return advice or (
        "Score it on texts that neither training nor the choice of the epoch has seen (split test).",
    )


def _list_advice(found: Evaluation, failed: Collection[str]) -> Iterator[str]:
    if "query" in failed:
        yield "The query may give the label away: `rationalize shortcuts audit --queries` shows how."
    if "bag" in failed:
        yield (
            "The label can still be learned better: more epochs (training.epochs), a warm start "
            "(training.warm_start=2), more examples or a larger encoder."
        )
    if "selectors" in failed:
        yield _advise_on_selection(found)
    if "full_text" in failed and "bag" not in failed:
        yield "The rationale leaves out what the label needs: a larger options.selection.share, or more epochs."
    if found.health.warnings:
        yield (
            "Look at rationales before you trust them: another seed, method or options.selection.share. If how much is "
            "selected tells the label, options.selection.sparsity=instance holds the share in every text."
        )
    if found.token_f1_eraser is None:
        yield f"No example of {found.split} has a gold rationale, so nobody knows whether the rationales are right."
    if found.n_examples < ENOUGH:
        yield f"{found.n_examples} examples say little: give at least {ENOUGH} for {found.split}."


def _advise_on_selection(found: Evaluation) -> str:
    if _learns_from_gold(found.method):
        return (
            "The selection is not learned yet: more gold (data.gold_share), more epochs, or a heavier lesson "
            "(options.supervision.select_weight=5)."
        )
    return "Nothing teaches it where people look: mark some rationales and train semi_rat or ssr_unif."


def _learns_from_gold(method: str | None) -> bool:
    try:
        return method is not None and method_class(method).about.supervision != "none"
    except ConfigError:  # a method of another package that is not installed here
        return False
