"""Explanations as JSON Lines, CSV or Parquet: one part at a time, and parts joined to one file."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from rationalize.errors import ConfigError
from rationalize.files import atomic_file, atomic_path, csv_line, json_line
from rationalize.format_names import ToolName
from rationalize.printable import guard_formula
from rationalize.types import Explanation

PartFormat = Literal["jsonl", "csv", "parquet"]
FORMATS: tuple[PartFormat, ...] = get_args(PartFormat)
COLUMNS = ("id", "label", "probability", "confidence", "review", "rationale", "spans", "text")


def require_writer(format: PartFormat) -> None:
    """Refuse a format that cannot be written here, before anything is explained."""
    if format == "parquet":
        _import_arrow()


def write_part(
    path: Path,
    format: PartFormat,
    found: Iterable[Explanation],
    labels: Sequence[str],
    *,
    guard_formulas: bool = True,
) -> None:
    """Write explanations to a file that appears only when complete."""
    if format == "parquet":
        arrow, parquet = _import_arrow()
        table = arrow.Table.from_pylist([each.to_dict() for each in found], schema=_make_schema(labels))
        with atomic_path(path) as part:
            parquet.write_table(table, part)
        return
    lines: Iterable[str] = (json_line(each.to_dict()) for each in found)
    if format == "csv":
        lines = to_csv(found, guard_formula if guard_formulas else str)
    with atomic_file(path) as file:
        file.writelines(lines)


def join_parts(parts: Sequence[Path], out: Path, format: PartFormat, labels: Sequence[str]) -> None:
    """Write all parts, in their order, to one file that appears only when complete."""
    with atomic_path(out) as whole:
        if format == "parquet":
            _join_parquet(parts, whole, labels)
            return
        header = csv_line(COLUMNS).encode() if format == "csv" else b""
        with whole.open("wb") as file:
            file.write(header)
            for part in parts:
                with part.open("rb") as rows:
                    rows.seek(len(header))
                    shutil.copyfileobj(rows, file)


def write_for_tool(parts: Sequence[Path], out: Path, tool: ToolName) -> Mapping[str, int]:
    """Write all parts, which are JSON Lines, as pre-annotations for a tool; return how often something was changed."""
    from rationalize.data.annotation import FORMATS as TOOLS

    return TOOLS[tool].write_predictions(out, _read_parts(parts)).changes


def _read_parts(parts: Iterable[Path]) -> Iterator[Explanation]:
    for part in parts:
        with part.open(encoding="utf-8") as lines:
            for line in lines:
                yield Explanation.from_dict(json.loads(line))


def _join_parquet(parts: Sequence[Path], whole: Path, labels: Sequence[str]) -> None:
    _, parquet = _import_arrow()
    with parquet.ParquetWriter(whole, _make_schema(labels)) as writer:
        for part in parts:
            writer.write_table(parquet.read_table(part))


def to_csv(found: Iterable[Explanation], guard: Callable[[str], str]) -> Iterator[str]:
    """Yield the lines of a CSV table whose ids match the input's."""
    yield csv_line(COLUMNS)
    for item in found:
        spans = " ".join(f"{span.start}-{span.end}" for span in item.spans)
        sure = "" if item.confidence is None else f"{item.confidence:.6f}"
        review = "" if item.review is None else str(item.review).lower()
        head = (item.id or "", item.label, f"{item.probability:.6f}", sure, review)
        cells = (*head, " … ".join(item.rationale), spans, item.text)
        yield csv_line(tuple(map(guard, cells)))


def _make_schema(labels: Sequence[str]) -> Any:
    """Return the columns of a Parquet file, the same in every part: the fields of a JSON Lines row."""
    arrow, _ = _import_arrow()
    text, number, truth = arrow.string(), arrow.float64(), arrow.bool_()
    span = arrow.list_(arrow.int64())
    chances = arrow.struct([(label, number) for label in labels])
    columns = {
        **{"id": text, "text": text, "query": text, "label": text, "rationale": arrow.list_(text)},
        **dict.fromkeys(("probabilities", "from_full_text", "from_rationale"), chances),
        **{"spans": arrow.list_(span), "words": arrow.list_(span), "cut_off": span},
        **{"scores": arrow.list_(number), "selected": arrow.list_(truth)},
        **{"faithful": truth, "method": text, "oracle_label": truth},
        **{"confidence": number, "review": truth},
    }
    return arrow.schema(list(columns.items()))


def _import_arrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ConfigError(
            "Parquet is written with pyarrow, which is not installed. Install it "
            "(`pip install 'rationalize[parquet]'`), or write JSON Lines or CSV.",
            field="out",
        ) from None
    return pyarrow, parquet
