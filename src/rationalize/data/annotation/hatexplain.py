"""Tokens with masks of 0 and 1, by one person or several, as in HateXplain.

The text is the tokens joined by single spaces, unless the record has it beside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rationalize.data.annotation._exporting import (
    ExportEntry,
    Exporter,
    require_whole_characters,
)
from rationalize.data.annotation._records import matches, read_records
from rationalize.data.annotation._tasks import AnnotatedText, Answer, Mark
from rationalize.data.annotation._values import read_id, read_label, read_string, read_text
from rationalize.data.annotation.annotation_file import ExportResult, Head
from rationalize.data.annotation.import_options import ImportOptions
from rationalize.data.annotation.tool_format import Format
from rationalize.data.findings import FileRow, Findings, shorten
from rationalize.files import JsonObject, write_json
from rationalize.text.words import PLAIN, find_runs, word_mask, word_spans
from rationalize.types import Span

_TOKENS = ("post_tokens", "tokens")
_MASKS = ("rationales", "rationale", "masks", "mask")
_NAME = "rationale"


def recognize(source: Path | Head) -> bool:
    """Return whether it is a record of tokens with masks."""
    return matches(source, _is_record)


def _is_record(record: Head) -> bool:
    tokens = next((record[name] for name in _TOKENS if name in record), None)
    if not isinstance(tokens, list) or not tokens or not all(isinstance(token, str) for token in tokens):
        return False
    return "annotators" in record or any(isinstance(record.get(name), list) for name in _MASKS)


def _read_texts(path: Path, options: ImportOptions, findings: Findings) -> Iterator[AnnotatedText]:
    for row in read_records(path, findings):
        yield _read_record(row, options)


def _read_record(row: FileRow, options: ImportOptions) -> AnnotatedText:
    values = row.values
    text, places = _place_tokens(row, options) if row.fine else ("", [])
    people = _list_people(row)
    label = read_label(row, values.get(options.label_field or "label"), options.label_field or "label")
    identifier = read_id(row, values.get("post_id"), values.get("id"))
    found = AnnotatedText(row, identifier, text, read_string(row, values, options.query_field), label)
    masks = _list_masks(row, len(places), options)
    if len(masks) == len(people):
        found.answers = [
            Answer(row, name, chosen, _marks(places, mask), "code_points")
            for (name, chosen), mask in zip(people, masks)
        ]
        return found
    # Fewer masks than people: those who chose the class that needs none gave none, and nothing says who did.
    found.answers = [Answer(row, name, chosen) for name, chosen in people]
    found.answers += [
        Answer(row, f"mask {number}", None, _marks(places, mask), "code_points")
        for number, mask in enumerate(masks, start=1)
    ]
    if not masks and options.unmarked == "empty" and any(name in values for name in _MASKS):
        found.answers.append(Answer(row, "mask 1", None, ()))
    return found


def _place_tokens(row: FileRow, options: ImportOptions) -> tuple[str, list[Span]]:
    field = next((name for name in _TOKENS if name in row.values), _TOKENS[0])
    tokens = row.values.get(field)
    if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
        row.error("wrong type", field, seen=shorten(tokens), expected="a list of strings")
        return "", []
    given = row.values.get(options.text_field or "text")
    text = given if isinstance(given, str) else " ".join(tokens)
    read_text(row, {field: text}, field)
    places, at = [], 0
    for index, token in enumerate(tokens):
        start = text.find(token, at)
        if start < 0:
            row.error(
                "token not in the text",
                f"{field}[{index}]",
                seen=shorten(token),
                expected="the text's tokens in order",
            )
            break
        at = start + len(token)
        places.append(Span(start, at))
    return text, places


def _list_people(row: FileRow) -> list[tuple[str, str | None]]:
    """Everyone's name and class, from objects or (as some copies have it) from columns."""
    given = row.values.get("annotators") or []
    if isinstance(given, dict):
        columns = [value for value in given.values() if isinstance(value, list)]
        size = min(map(len, columns), default=0)
        given = [
            {name: value[index] for name, value in given.items() if isinstance(value, list)}
            for index in range(size)
        ]
    people = []
    for index, person in enumerate(given if isinstance(given, list) else []):
        place = f"annotators[{index}]"
        if not isinstance(person, dict):
            row.error("wrong type", place, seen=shorten(person), expected='{"label": …, "annotator_id": …}')
            continue
        name = person.get("annotator_id")
        people.append(
            (str(index + 1 if name is None else name), read_label(row, person.get("label"), f"{place}.label"))
        )
    return people


def _list_masks(row: FileRow, size: int, options: ImportOptions) -> list[list[int]]:
    field = options.span_field or next((name for name in _MASKS if name in row.values), _MASKS[0])
    given = row.values.get(field) or []
    several = isinstance(given, list) and all(isinstance(mask, list) for mask in given)
    masks = given if several else [given]
    found = []
    for index, mask in enumerate(masks):
        place = f"{field}[{index}]" if several else field
        if not isinstance(mask, list) or not all(mark in (0, 1) for mark in mask):
            row.error("wrong type", place, seen=shorten(mask), expected="0 or 1 for each token")
        elif row.fine and len(mask) != size:
            row.error(
                "wrong number of marks", place, seen=str(len(mask)), expected=f"{size}, one for each token"
            )
        else:
            found.append([int(mark) for mark in mask])
    return found


def _marks(places: Sequence[Span], mask: Sequence[int]) -> tuple[Mark, ...]:
    found = (
        (places[start].start, places[end - 1].end)
        for start, end in find_runs(map(bool, mask))
        if end <= len(places)
    )
    return tuple(Mark(_NAME, start, end, "rationales") for start, end in found if start < end)


def _save(path: Path, exporter: Exporter, entries: list[ExportEntry]) -> ExportResult:
    """Write records by id; spans become marks on whole words, and a model takes the place of the annotator."""
    records: JsonObject = {}
    for entry in entries:
        records[entry.id] = _record(entry, exporter)
        for text in (entry.id, entry.text, entry.label or "", entry.query or ""):
            require_whole_characters(entry, text)
    write_json(path, records)
    return exporter.finish(len(entries))


def _record(entry: ExportEntry, exporter: Exporter) -> dict[str, object]:
    words = word_spans(entry.text, PLAIN)
    person: object = entry.model_version if entry.model_version is not None else 1
    record: dict[str, object] = {"post_id": entry.id}
    if entry.spans is None:
        record |= {"label": entry.label, "annotators": []}
    else:
        name = exporter.options.rationale_name
        wanted = [Span(span.start, span.end) for span in entry.spans if span.name == name]
        mask = word_mask(words, wanted)
        exporter.changes["shortcuts left out"] += len(wanted) < len(entry.spans)
        record["annotators"] = [{"label": entry.label, "annotator_id": person}]
        record["rationales"] = [[int(mark) for mark in mask]]
    record |= {"post_tokens": [entry.text[word.start : word.end] for word in words], "text": entry.text}
    return record | ({"query": entry.query} if entry.query is not None else {})


FORMAT = Format("hatexplain", "tokens with masks", recognize, _read_texts, _save)
