"""Convert values of other libraries to plain Python: numpy numbers, missing pandas values, tuples, spans."""

from __future__ import annotations

from typing import Any

from rationalize.types import Document, Span


def to_plain(value: Any) -> Any:
    """Convert a value to plain JSON types; a missing one (None, NaN, NA, NaT) to None."""
    if isinstance(value, str):
        return str(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return None if value != value else float(value)
    if isinstance(value, Span):
        return [value.start, value.end, value.group]
    if isinstance(value, Document):
        return {"id": value.id, "start": value.start, "end": value.end}
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(name): to_plain(item) for name, item in value.items()}
    if hasattr(value, "tolist"):  # numpy's scalars and arrays
        return to_plain(value.tolist())
    # pandas.NA and NaT, recognized by name: pandas is not imported for them.
    return None if type(value).__name__ in {"NAType", "NaTType"} else value
