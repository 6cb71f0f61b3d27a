"""Labels that mean the same number or truth value but are written in several ways: `1`, `"1"`, `1.0`, `true`.

Whole numbers are one class whatever their type (tables with gaps turn 1 into 1.0). What else is equal but
written differently would be silently counted as several classes, so it is refused; only where all spellings give the
same class name is it a mere warning.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rationalize.data.findings import Findings

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.IGNORECASE)
_TRUTH = {"true": 1.0, "false": 0.0}

RawLabel = str | int | float | bool


def name_class(value: RawLabel) -> str:
    """Return the class that a label names: numbers without needless zeros, other values unchanged."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


class LabelSpellings:
    """Counts how labels are written in all rows of a data set."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[type, RawLabel]] = Counter()

    def count(self, value: RawLabel) -> None:
        """Take in the label of one row."""
        self._counts[type(value), value] += 1

    def report(self, findings: Findings, field: str) -> None:
        """Report every value that is written in several ways, and truth values among numbers."""
        mixed: list[tuple[RawLabel, int]] = [
            (value, count) for (_, value), count in self._counts.items() if not isinstance(value, str)
        ]
        if 0 < sum(isinstance(value, bool) for value, _ in mixed) < len(mixed):
            _report_group(mixed, findings, field)
            return
        forms: dict[float, list[tuple[RawLabel, int]]] = defaultdict(list)
        for (_, value), count in self._counts.items():
            meaning = _find_meaning(value)
            if meaning is not None:
                forms[meaning].append((value, count))
        for _, group in sorted(forms.items()):
            if not _is_one_kind([value for value, _ in group]):
                _report_group(group, findings, field)


def _find_meaning(value: RawLabel) -> float | None:
    """Return a label's value as a number or truth value; None for a name."""
    if not isinstance(value, str):
        return float(value)
    text = value.strip().lower()
    if text in _TRUTH:
        return _TRUTH[text]
    return float(text) if _NUMBER.fullmatch(text) else None


def _is_one_kind(values: list[RawLabel]) -> bool:
    """Return whether nothing needs a report: one spelling, only numbers, or strings that differ in case and space."""
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    alike = {value.strip().lower() if isinstance(value, str) else value for value in values}
    return numbers or (len(alike) == 1 and len({type(value) for value in values}) == 1)


def _report_group(group: list[tuple[RawLabel, int]], findings: Findings, field: str) -> None:
    seen = ", ".join(f"{_spell(value)} × {count}" for value, count in sorted(group, key=_rank))
    one_class = len({name_class(value) for value, _ in group}) == 1
    add = findings.warning if one_class else findings.error
    what = "they count as one class" if one_class else "write them all as strings or all as numbers"
    expected = f"one spelling of each class; {what}"
    add("label written in several ways", str(findings.root), field=field, seen=seen, expected=expected)


def _spell(value: RawLabel) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _rank(entry: tuple[RawLabel, int]) -> tuple[int, str]:
    return -entry[1], _spell(entry[0])
