"""How numbers and names are written where people read them: everywhere the same."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

NOTHING = "–"
Kind = Literal["text", "score", "count"]


@dataclass(frozen=True, slots=True)
class MeanValue:
    """A number measured several times: mean, standard deviation, and how often."""

    mean: float
    sd: float | None = None
    n: int | None = None


Value = str | int | float | MeanValue | None


def magnitude(value: Value) -> float | None:
    """The number to compare by, or None where there is none."""
    if isinstance(value, MeanValue):
        return magnitude(value.mean)
    if value is None or isinstance(value, str | bool) or not math.isfinite(value):
        return None
    return float(value)


def format_value(value: Value, kind: Kind = "score") -> str:
    """A score (0 to 1) as a percentage without its sign, a count as a whole number, nothing as –."""
    if isinstance(value, str):
        return value
    number = magnitude(value)
    if number is None:
        return NOTHING
    if not isinstance(value, MeanValue) or value.sd is None:
        return _digits(number, kind)
    return f"{_digits(number, kind)} ± {_digits(value.sd, kind)}"


def _digits(number: float, kind: Kind) -> str:
    return f"{100 * number:.1f}" if kind == "score" else f"{number:,.0f}".replace(",", "\u202f")


def percent(value: Value) -> str:
    """A score as it stands in a sentence, with its sign."""
    written = format_value(value, "score")
    return written if written == NOTHING else f"{written}\u00a0%"


def duration(seconds: float) -> str:
    """A length of time, to the second: 0:42, 12:05, 3:07:00."""
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


def at_a_glance(dev: Mapping[str, float | None]) -> str:
    """The scores on dev that say most, on one line; those that there are not are left out."""
    shown = {short: dev.get(name) for name, short in AT_A_GLANCE.items()}
    return ", ".join(f"{short} {percent(value)}" for short, value in shown.items() if value is not None)


def method_name(method: str | None, *, oracle_label: bool = False) -> str:
    """A method as it is shown: never without the gold label that it was given."""
    return f"{method or NOTHING}{' (given the gold label)' if oracle_label else ''}"
