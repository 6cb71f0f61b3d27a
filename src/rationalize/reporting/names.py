"""What the scores that training watches are called where people read them."""

from __future__ import annotations

from collections.abc import Mapping

from rationalize.reporting.numbers import percent

DEV_SCORES = {
    "task_f1": "task F1",
    "task_f1_full_text": "task F1, full text",
    "task_f1_rationale": "task F1, rationale",
    "token_f1": "token F1 (ERASER)",
    "selected_fraction": "selected",
}
AT_A_GLANCE = {"task_f1": "task F1", "token_f1": "token F1", "selected_fraction": "selected"}


def at_a_glance(dev: Mapping[str, float | None]) -> str:
    """The scores on dev that say most, on one line; those that there are not are left out."""
    shown = {short: dev.get(name) for name, short in AT_A_GLANCE.items()}
    return ", ".join(f"{short} {percent(value)}" for short, value in shown.items() if value is not None)
