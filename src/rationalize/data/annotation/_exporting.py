"""Shared by all writers: bring examples and explanations into one shape, check and save them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rationalize.data.annotation._offsets import Utf16
from rationalize.data.annotation.annotation_file import ExportResult
from rationalize.data.annotation.import_options import Counting, ExportOptions
from rationalize.data.own_ids import OwnIds
from rationalize.errors import DataError
from rationalize.files import json_line, write_text
from rationalize.types import Example, Explanation, Span

JsonRow = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NamedSpan:
    """A span to write: offsets as the tool counts them, and the text there."""

    start: int
    end: int
    name: str
    quote: str


@dataclass(frozen=True, slots=True)
class ExportEntry:
    """One text to write.

    Attributes:
        id: Id of the example.
        text: The text.
        query: The query, or None.
        label: The class, or None.
        spans: Rationale and shortcuts. None: nobody marked the text.
        score: How sure the model is of the class; None for people's annotations.
        model_version: The model; None likewise.
    """

    id: str
    text: str
    query: str | None
    label: str | None
    spans: tuple[NamedSpan, ...] | None
    score: float | None = None
    model_version: str | None = None


class Exporter:
    """Turns examples, or explanations, into entries, and counts what the format cannot keep."""

    def __init__(self, options: ExportOptions, counting: Counting = "code_points") -> None:
        self.changes: Counter[str] = Counter()
        self.options = options
        self._counting = options.offsets or counting
        self._ids = OwnIds()

    def list_examples(self, examples: Iterable[Example]) -> list[ExportEntry]:
        """List entries of people's annotation."""
        return [self._enter(example) for example in examples]

    def list_predictions(self, explanations: Iterable[Explanation]) -> list[ExportEntry]:
        """List entries of a model's predictions; those without an id are numbered."""
        entries = []
        for number, each in enumerate(explanations, start=1):
            name = str(number) if each.id is None else each.id
            predicted = Example(name, each.text, each.label, each.query, rationale=each.spans)
            version = self.options.model_version or each.method
            entries.append(self._enter(predicted, each.probabilities.get(each.label), version))
        return entries

    def _enter(self, example: Example, score: float | None = None, version: str | None = None) -> ExportEntry:
        self._ids.add(example.id)
        self.changes["documents not kept apart"] += bool(example.documents)
        return ExportEntry(
            example.id, example.text, example.query, example.label, self._name(example), score, version
        )

    def _name(self, example: Example) -> tuple[NamedSpan, ...] | None:
        if example.rationale is None:
            # To write them would say that a person looked, and found no rationale.
            self.changes["shortcuts left out, as nobody marked a rationale"] += bool(example.shortcuts)
            return None
        units = Utf16(example.text)
        count: Callable[[int], int] = units.from_code_points if self._counting == "utf16" else int
        named = []
        for field, name, spans in (
            ("rationale", self.options.rationale_name, example.rationale),
            ("shortcuts", self.options.shortcut_name, example.shortcuts or ()),
        ):
            for index, span in enumerate(spans):
                _require_inside(example, f"{field}[{index}]", span)
                self.changes["evidence groups not kept apart"] += bool(span.group)
                quote = example.text[span.start : span.end]
                named.append(NamedSpan(count(span.start), count(span.end), name, quote))
        return tuple(named)

    def finish(self, rows: int) -> ExportResult:
        """Return what was written."""
        return ExportResult(rows, {kind: times for kind, times in sorted(self.changes.items()) if times})


def save_lines(path: Path, rows: Iterable[tuple[ExportEntry, JsonRow]]) -> None:
    """Write a JSON Lines file, whole or not at all."""
    write_text(path, "".join(_encode(rows)))


def save_list(path: Path, rows: Iterable[tuple[ExportEntry, JsonRow]]) -> None:
    """Write a JSON array with one record on each line, whole or not at all."""
    lines = [line.rstrip("\n") for line in _encode(rows)]
    write_text(path, "[\n" + ",\n".join(lines) + "\n]\n" if lines else "[]\n")


def require_whole_characters(entry: ExportEntry, text: str) -> None:
    """Refuse half a surrogate pair, which no UTF-8 file can hold."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise DataError(
            f"example {entry.id!r}: half a surrogate pair at character {error.start} of its row. "
            "Expected whole characters; mend the text."
        ) from error


def _encode(rows: Iterable[tuple[ExportEntry, JsonRow]]) -> Iterator[str]:
    for entry, row in rows:
        line = json_line(row)
        require_whole_characters(entry, line)
        yield line


def _require_inside(example: Example, field: str, span: Span) -> None:
    if not 0 <= span.start < span.end <= len(example.text):
        raise DataError(
            f"example {example.id!r}: {field}: saw {span.start}, {span.end}, expected start < end within "
            f"0 to {len(example.text)} characters."
        )
