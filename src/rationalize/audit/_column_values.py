"""A column as one group per document: its values, or ranges of them where they are numbers or dates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import numpy as np

from rationalize.shortcuts.phrases import Ints
from rationalize.types import Example, Scalar

NONE = "(none)"
FEW_VALUES = 10  # a column of more different numbers or dates is put into ranges
RANGES = 5
MOSTLY = 0.95  # share of values that must be numbers (or dates) for a column of them

Value = Scalar | None


def list_metadata(examples: Sequence[Example]) -> dict[str, list[Value]]:
    """List the metadata of all documents by column."""
    names = sorted({name for example in examples for name in example.metadata})
    return {name: [example.metadata.get(name) for example in examples] for name in names}


def group_values(values: Sequence[Value], counts: Ints) -> list[str]:
    """Return the group of every value: itself as text, or a range with as many documents as the others.

    `counts` has the number of documents with each value.
    """
    given = sum(int(count) for value, count in zip(values, counts, strict=True) if value is not None)
    for read, write in ((_read_number, _write_number), (_read_date, _write_date)):
        numbers = [None if value is None else read(value) for value in values]
        there = np.array([number is not None for number in numbers], dtype=bool)
        known = {number for number in numbers if number is not None}
        if len(known) > FEW_VALUES and counts[there].sum() >= MOSTLY * given:
            return _make_ranges(numbers, counts[there], write)
    return [NONE if value is None else str(value).strip() for value in values]


def _make_ranges(numbers: Sequence[float | None], counts: Ints, write: Callable[[float], str]) -> list[str]:
    known = np.array([number for number in numbers if number is not None])
    everywhere = np.repeat(known, counts)
    edges = np.unique(np.quantile(everywhere, np.linspace(0, 1, RANGES + 1)[1:-1], method="lower"))
    places = np.searchsorted(edges, known, side="left")
    names = {
        int(place): _name_range(known[places == place].min(), known[places == place].max(), write)
        for place in np.unique(places)
    }
    left = iter(places)
    return [NONE if number is None else names[int(next(left))] for number in numbers]


def _name_range(low: float, high: float, write: Callable[[float], str]) -> str:
    first, last = write(low), write(high)
    return first if first == last else f"{first} to {last}"


def _read_number(value: Scalar) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def _write_number(number: float) -> str:
    return f"{number:.10g}"


def _read_date(value: Scalar) -> float | None:
    """Read a date or a time in ISO's notation, as seconds; one without a zone is taken for UTC."""
    try:
        when = datetime.fromisoformat(str(value).strip())
    except ValueError:
        return None
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def _write_date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()
