"""Read data in memory: pandas and `datasets` tables; lists of texts, rows or examples.

No library is imported to recognize an object: its module's name is enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rationalize.data._class_names import list_class_names, name_classes
from rationalize.data._whole_files import make_rows
from rationalize.data.findings import FileRow, Findings, shorten
from rationalize.data.jsonl import to_row
from rationalize.data.read_options import Fields
from rationalize.errors import DataError
from rationalize.files import JsonObject
from rationalize.types import Example

ACCEPTED = (
    "a path, a pandas.DataFrame, a datasets.Dataset or DatasetDict, (texts, labels), (texts, labels, rationales), "
    "a list of dicts, a list of Examples, or one of these for each split"
)


def split_sources(source: Any, fields: Fields) -> Mapping[str, Any] | None:
    """Return the sources by split; None if there is a single source."""
    if not isinstance(source, Mapping) or fields.text in source:
        return None
    if not source or not all(isinstance(name, str) for name in source):
        raise DataError(f"data: saw {shorten(list(source))} as names of splits, expected strings.")
    return dict(source)


def names_fields(source: Any) -> bool:
    """Return whether the source names its fields, which the options may rename."""
    return not isinstance(source, Sequence) or isinstance(next(iter(source), None), Mapping)


def read_memory_rows(source: Any, place: str, findings: Findings, fields: Fields) -> Iterator[FileRow]:
    """Yield rows of a source in memory; their place is `place[number]`."""
    if _name_module(source) == "pandas":
        items: Iterable[Any] = _read_frame(source, place)
    elif _name_module(source) == "datasets":
        items = _read_dataset(source)
    elif isinstance(source, Mapping):
        items = _read_columns(tuple(map(str, source)), tuple(source.values()), place)
    elif isinstance(source, tuple) and len(source) in (2, 3) and not isinstance(source[0], Example | Mapping):
        items = _read_columns(("text", "label", "rationale")[: len(source)], source, place)
    elif isinstance(source, Sequence) and not isinstance(source, str | bytes):
        items = [_make_item(each) for each in source]
    else:
        raise DataError(f"{place}: saw {type(source).__name__}, expected {ACCEPTED}.")
    yield from make_rows(items, place, findings)


def _name_module(source: Any) -> str:
    return type(source).__module__.partition(".")[0]


def _read_frame(frame: Any, place: str) -> Iterator[JsonObject]:
    if type(frame).__name__ != "DataFrame":
        raise DataError(
            f"{place}: saw a pandas {type(frame).__name__}, expected a DataFrame with named columns."
        )
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        raise DataError(f"{place}: saw columns {shorten(names)}, expected each name once.")
    return (dict(zip(names, values)) for values in frame.itertuples(index=False, name=None))


def _read_dataset(dataset: Any) -> Iterator[JsonObject]:
    """Yield the rows of a `datasets.Dataset`; a class that is stored as a number gets its name."""
    names = list_class_names(getattr(dataset, "features", None))
    return (name_classes(item, names) for item in dataset)


def _read_columns(names: Sequence[str], columns: Sequence[Any], place: str) -> Iterator[JsonObject]:
    """Return rows made from columns, which may be lists, arrays or Series."""
    for name, column in zip(names, columns):
        if isinstance(column, str | bytes) or not hasattr(column, "__len__"):
            raise DataError(f"{place}: {name}: saw {shorten(column)}, expected a list.")
    lengths = [len(column) for column in columns]
    if len(set(lengths)) > 1:
        seen = ", ".join(f"{length} of {name}" for name, length in zip(names, lengths))
        raise DataError(f"{place}: saw {seen}, expected as many of each.")
    return (dict(zip(names, values)) for values in zip(*columns))


def _make_item(value: Any) -> Any:
    """Convert one element of a list: an example, a mapping, or a bare text."""
    if isinstance(value, Example):
        return to_row(value)
    if isinstance(value, str):
        return {"text": value}
    return dict(value) if isinstance(value, Mapping) else value
