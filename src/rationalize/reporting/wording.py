"""Format numbers and names for people, everywhere the same way."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

NOTHING = "–"
Kind = Literal["text", "score", "count"]


@dataclass(frozen=True, slots=True)
class MeanValue:
    """A repeated measurement: mean, standard deviation, and number of values."""

    mean: float
    sd: float | None = None
    n: int | None = None


@dataclass(frozen=True, slots=True)
class SampledValue:
    """A score on a sample: its value, and half the width of its 95 % interval."""

    value: float
    margin: float


Value = str | int | float | MeanValue | SampledValue | None


def magnitude(value: Value) -> float | None:
    """Return the number to compare by, or None if there is none."""
    if isinstance(value, MeanValue):
        return magnitude(value.mean)
    if isinstance(value, SampledValue):
        return magnitude(value.value)
    if value is None or isinstance(value, str | bool) or not math.isfinite(value):
        return None
    return float(value)


def format_value(value: Value, kind: Kind = "score") -> str:
    """Format a score (0 to 1) as a percentage without its sign, a count as a whole number, None as –."""
    if isinstance(value, str):
        return value
    number = magnitude(value)
    if number is None:
        return NOTHING
    spread = _find_spread(value)
    if spread is None:
        return _format_digits(number, kind)
    return f"{_format_digits(number, kind)} ± {_format_digits(spread, kind)}"


def _find_spread(value: Value) -> float | None:
    if isinstance(value, MeanValue):
        return value.sd
    return value.margin if isinstance(value, SampledValue) else None


def _format_digits(number: float, kind: Kind) -> str:
    return f"{100 * number:.1f}" if kind == "score" else f"{number:,.0f}".replace(",", "\u202f")


def format_percent(value: Value) -> str:
    """Format a score for a sentence, with its percent sign."""
    written = format_value(value, "score")
    return written if written == NOTHING else f"{written}\u00a0%"


def format_duration(seconds: float) -> str:
    """Format a length of time, to the second: 0:42, 12:05, 3:07:00."""
    minutes, rest = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


DEV_SCORES = {
    "task_f1": "task F1",
    "task_f1_full_text": "task F1, full text",
    "task_f1_rationale": "task F1, rationale",
    "token_f1": "token F1 (ERASER)",
    "selected_fraction": "selected",
}
AT_A_GLANCE = {"task_f1": "task F1", "token_f1": "token F1", "selected_fraction": "selected"}


def format_dev_scores(dev: Mapping[str, float | None]) -> str:
    """Format the main dev scores on one line, with margins and the number of examples; missing ones are left out."""
    parts = [
        f"{short} {format_percent(_add_margin(dev, name))}"
        for name, short in AT_A_GLANCE.items()
        if dev.get(name) is not None
    ]
    n = dev.get("n")
    return ", ".join(parts) + (f" (n={n:.0f})" if parts and n is not None else "")


def _add_margin(dev: Mapping[str, float | None], name: str) -> Value:
    value, margin = dev.get(name), dev.get(f"{name}_margin")
    return value if value is None or margin is None else SampledValue(value, margin)


def format_method(method: str | None, *, oracle_label: bool = False) -> str:
    """Format a method's name, with a note if it was given the gold label."""
    return f"{method or NOTHING}{' (given the gold label)' if oracle_label else ''}"
