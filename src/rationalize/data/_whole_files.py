"""Files that are read as a whole: a JSON array of objects (or `{"data": [...]}`), and Parquet."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from rationalize.data._class_names import name_classes, read_class_names
from rationalize.data._plain_values import to_plain
from rationalize.data._token_masks import is_tokens
from rationalize.data.findings import FileRow, Findings, shorten
from rationalize.data.rows import is_encodable, skip_mark
from rationalize.errors import DataError


def read_json_array(stream: BinaryIO, file: str, findings: Findings) -> Iterator[FileRow]:
    """Yield the objects of a JSON array as rows."""
    if not skip_mark(stream, file, findings):
        return
    try:
        value = json.loads(stream.read().decode("utf-8"))
    except UnicodeDecodeError as error:
        findings.error(
            "not UTF-8", file, seen=f"a wrong byte at byte {error.start + 1}", expected="UTF-8 text"
        )
        return
    except (ValueError, RecursionError) as error:
        reason = "nesting too deep" if isinstance(error, RecursionError) else str(error)
        findings.error("not JSON", file, seen=reason, expected="an array of objects")
        return
    items = value.get("data") if isinstance(value, dict) else value
    if not isinstance(items, list):
        expected = 'an array of objects, or {"data": [...]}'
        findings.error("not an array", file, seen=shorten(value), expected=expected)
        return
    yield from make_rows(items, file, findings)


def read_parquet(stream: BinaryIO, file: str, findings: Findings) -> Iterator[FileRow]:
    """Yield the rows of a Parquet file, some thousands at a time."""
    yield from make_rows(_read_parquet_items(_open_parquet(stream, file), file), file, findings)


def _read_parquet_items(table: Any, file: str) -> Iterator[Any]:
    """Yield the items; what is damaged behind an intact footer only shows now."""
    batches, names = table.iter_batches(batch_size=4096), read_class_names(table.schema_arrow.metadata)
    while True:
        with _blame_file(file):
            batch = next(batches, None)
            items = batch.to_pylist() if batch is not None else []
        if batch is None:
            return
        yield from (name_classes(item, names) for item in items)


def read_parquet_columns(stream: BinaryIO, file: str) -> list[str]:
    """Return the names of the columns."""
    table = _open_parquet(stream, file)
    with _blame_file(file):
        return list(table.schema_arrow.names)


def make_rows(items: Iterable[Any], source: str, findings: Findings) -> Iterator[FileRow]:
    """Objects as rows, numbered from 0 on."""
    for number, item in enumerate(items):
        row = FileRow(source, number, {}, findings, is_item=True)
        if not isinstance(item, dict):
            row.error("not an object", "", seen=shorten(item), expected='an object such as {"text": …}')
        else:
            row.values = {str(name): to_plain(value) for name, value in item.items()}
            broken = next((name for name, value in row.values.items() if not _is_whole(value)), None)
            if broken is not None:
                row.error(
                    "half a surrogate pair", broken, seen="a lone surrogate", expected="whole characters"
                )
        yield row


def _is_whole(value: Any) -> bool:
    strings = value if is_tokens(value) else [value] if isinstance(value, str) else []
    return is_encodable("".join(strings))


WHOLE_ROWS: dict[str, Callable[[BinaryIO, str, Findings], Iterator[FileRow]]] = {
    ".json": read_json_array,
    ".parquet": read_parquet,
}


def _open_parquet(stream: BinaryIO, file: str) -> Any:
    try:
        import pyarrow  # noqa: F401
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise DataError(
            f"{file}: Parquet is read with pyarrow, which is not installed. Install it "
            "(`pip install 'rationalize[parquet]'`), or write the table as CSV or JSON Lines."
        ) from None
    with _blame_file(file):
        return ParquetFile(stream)


@contextmanager
def _blame_file(file: str) -> Iterator[None]:
    """Turn whatever pyarrow finds wrong with a file, names and values that are not UTF-8 included, into one error."""
    from pyarrow import ArrowException

    try:
        yield
    except (ArrowException, OSError, ValueError, OverflowError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise DataError(
            f"{file}: not a Parquet file, or damaged: {reason[:200].rstrip('.')}. Write it again."
        ) from None
