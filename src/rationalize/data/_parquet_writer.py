"""Write examples as Parquet, some thousands at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from rationalize.data.jsonl import to_row
from rationalize.errors import ConfigError, DataError
from rationalize.files import to_json
from rationalize.types import Example

ROWS = 4096  # written at once


def require_arrow() -> None:
    """Refuse to write Parquet where pyarrow is missing, before anything is read."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise ConfigError(
            "Parquet is written with pyarrow, which is not installed. Install it "
            "(`pip install 'rationalize[parquet]'`), or write JSON Lines or CSV.",
            field="to",
        ) from None


def write_parquet(path: Path, examples: Iterable[Example], columns: Mapping[str, set[type]]) -> None:
    """Write examples to a .parquet file with the given columns and types of values. Not atomic by itself."""
    import pyarrow
    from pyarrow import parquet

    schema = pyarrow.schema([(name, _choose_type(name, types)) for name, types in columns.items()])
    mixed = {
        name for name, types in columns.items() if len(types) > 1 and schema.field(name).type == "string"
    }
    rows = map(to_row, examples)
    with parquet.ParquetWriter(path, schema) as writer:
        while some := list(islice(rows, ROWS)):
            for row in some:
                row.update({name: _to_text(row[name]) for name in mixed if name in row})
            try:
                writer.write_table(pyarrow.Table.from_pylist(some, schema=schema))
            except (pyarrow.ArrowException, OverflowError, UnicodeEncodeError) as error:
                raise DataError(
                    f"examples {some[0]['id']!r} to {some[-1]['id']!r}: cannot be written as Parquet: {error}. "
                    "Write JSON Lines instead."
                ) from None


def _choose_type(name: str, types: set[type]) -> Any:
    import pyarrow

    spans = pyarrow.list_(pyarrow.list_(pyarrow.int64()))
    document = {"id": pyarrow.string(), "start": pyarrow.int64(), "end": pyarrow.int64()}
    own = {
        "rationale": spans,
        "shortcuts": spans,
        "documents": pyarrow.list_(pyarrow.struct(list(document.items()))),
    }
    if name in own:
        return own[name]
    if types == {bool}:
        return pyarrow.bool_()
    if types == {int}:
        return pyarrow.int64()
    return pyarrow.float64() if types <= {int, float} else pyarrow.string()


def _to_text(value: Any) -> str:
    return value if isinstance(value, str) else to_json(value, indent=None)
