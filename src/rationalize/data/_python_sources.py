"""Data that are in memory already: tables of pandas and `datasets`, lists of texts, of rows, or of examples.

No library is imported to tell what an object is: it says so itself by its module.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rationalize.data._whole_files import item_rows
from rationalize.data.findings import FileRow, Findings, brief
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
    """The sources by split, if there is one for each split; None for a single one."""
    if not isinstance(source, Mapping) or fields.text in source:
        return None
    if not source or not all(isinstance(name, str) for name in source):
        raise DataError(f"data: saw {brief(list(source))} as names of splits, expected strings.")
    return dict(source)


def names_fields(source: Any) -> bool:
    """Whether the source has names for its fields, which may be others than ours."""
    return not isinstance(source, Sequence) or isinstance(next(iter(source), None), Mapping)


def memory_rows(source: Any, place: str, findings: Findings, fields: Fields) -> Iterator[FileRow]:
    """What is in memory as rows, whose place is `place[number]`."""
    if _module(source) == "pandas":
        items: Iterable[Any] = _frame_items(source, place)
    elif _module(source) == "datasets":
        items = _dataset_items(source, fields.label)
    elif isinstance(source, Mapping):
        items = _column_items(tuple(map(str, source)), tuple(source.values()), place)
    elif isinstance(source, tuple) and len(source) in (2, 3) and not isinstance(source[0], Example | Mapping):
        items = _column_items(("text", "label", "rationale")[: len(source)], source, place)
    elif isinstance(source, Sequence) and not isinstance(source, str | bytes):
        items = [_item(each) for each in source]
    else:
        raise DataError(f"{place}: saw {type(source).__name__}, expected {ACCEPTED}.")
    yield from item_rows(items, place, findings)


def _module(source: Any) -> str:
    return type(source).__module__.partition(".")[0]


def _frame_items(frame: Any, place: str) -> Iterator[JsonObject]:
    if type(frame).__name__ != "DataFrame":
        raise DataError(
            f"{place}: saw a pandas {type(frame).__name__}, expected a DataFrame with named columns."
        )
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        raise DataError(f"{place}: saw columns {brief(names)}, expected each name once.")
    return (dict(zip(names, values)) for values in frame.itertuples(index=False, name=None))


def _dataset_items(dataset: Any, label: str) -> Iterator[JsonObject]:
    """The rows of a `datasets.Dataset`; a class that is stored as a number gets its name."""
    names = getattr((getattr(dataset, "features", None) or {}).get(label), "names", None)
    for item in dataset:
        number = item.get(label)
        if names and isinstance(number, int):
            item = {**item, label: names[number] if 0 <= number < len(names) else None}
        yield item


def _column_items(names: Sequence[str], columns: Sequence[Any], place: str) -> Iterator[JsonObject]:
    """Rows of columns, which may be lists, arrays or Series."""
    for name, column in zip(names, columns):
        if isinstance(column, str | bytes) or not hasattr(column, "__len__"):
            raise DataError(f"{place}: {name}: saw {brief(column)}, expected a list.")
    lengths = [len(column) for column in columns]
    if len(set(lengths)) > 1:
        seen = ", ".join(f"{length} of {name}" for name, length in zip(names, lengths))
        raise DataError(f"{place}: saw {seen}, expected as many of each.")
    return (dict(zip(names, values)) for values in zip(*columns))


def _item(value: Any) -> Any:
    """One row of a list: an example, a mapping, or a bare text."""
    if isinstance(value, Example):
        return to_row(value)
    if isinstance(value, str):
        return {"text": value}
    return dict(value) if isinstance(value, Mapping) else value
