"""Pieces of evidence in an ERASER row: tokens of a document, in groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rationalize.data._eraser_documents import Layout
from rationalize.data.fields import MAX_GROUPS, is_integer, offsets
from rationalize.data.findings import FileRow, brief
from rationalize.types import Span


@dataclass(frozen=True, slots=True)
class Evidence:
    """Some tokens of a document, as a row claims them; nothing but the document's id has been checked."""

    field: str
    docid: str
    group: int
    values: Mapping[str, Any]


def evidences_of(row: FileRow) -> list[Evidence] | None:
    """The evidence of a row in all its groups; None where nobody annotated."""
    value = row.values.get("evidences")
    if value is None:
        return None
    found: list[Evidence] = []
    for group, members in enumerate(list_in(row, "evidences", value)):
        field = f"evidences[{group}]"
        for index, item in enumerate(list_in(row, field, members)):
            found += _evidence(row, f"{field}[{index}]", item, group)
    return found


def shortcuts_of(row: FileRow) -> list[Evidence]:
    """The shortcuts in a row of `shortcuts/<split>.jsonl`."""
    found: list[Evidence] = []
    for index, item in enumerate(list_in(row, "shortcuts", row.values.get("shortcuts"))):
        field = f"shortcuts[{index}]"
        group = item.get("group", 0) if isinstance(item, dict) else 0
        if is_integer(group) and 0 <= group < MAX_GROUPS:
            found += _evidence(row, field, item, group)
        else:
            expected = f"an integer, 0 to {MAX_GROUPS - 1}"
            row.error("wrong group", f"{field}.group", seen=brief(group), expected=expected)
    return found


def spans_of_evidence(row: FileRow, evidences: Iterable[Evidence], layout: Layout) -> tuple[Span, ...]:
    """Where the evidence lies in the joined text; what covers nothing is left out, with a warning."""
    return tuple(_spans(row, evidences, layout))


def _spans(row: FileRow, evidences: Iterable[Evidence], layout: Layout) -> Iterator[Span]:
    for evidence in evidences:
        if evidence.docid not in layout.sources:
            unknown_document(row, f"{evidence.field}.docid", evidence.docid)
            continue
        document, at = layout.sources[evidence.docid]
        if evidence.values.get("start_sentence") == -1:
            row.findings.note("evidences with sentence index -1")
        first, last = evidence.values.get("start_token"), evidence.values.get("end_token")
        pair = offsets(row, evidence.field, first, last, len(document.tokens), "tokens")
        if pair:
            start, end = document.tokens.starts[pair[0]], document.tokens.ends[pair[1] - 1]
            _compare(row, evidence, document.text[start:end])
            yield Span(at + start, at + end, evidence.group)


def _compare(row: FileRow, evidence: Evidence, text: str) -> None:
    """Offsets count; but evidence that quotes other words than they point at deserves a look."""
    claimed, words = evidence.values.get("text"), text.split()
    if isinstance(claimed, str) and claimed.split() != words:
        expected = brief(" ".join(words))
        row.warning("evidence text differs", evidence.field, seen=brief(claimed), expected=expected)


def unknown_document(row: FileRow, field: str, docid: str) -> None:
    """Report a document that is not there, cannot be read, or is not among the row's `docids`."""
    expected = "a readable document in docs, and in docids if the row has any"
    row.error("unknown document", field, seen=brief(docid), expected=expected)


def list_in(row: FileRow, field: str, value: Any) -> list[Any]:
    """The value if it is a list; else an empty one, and an error."""
    if isinstance(value, list):
        return value
    row.error("wrong type", field, seen=brief(value), expected="a list")
    return []


def _evidence(row: FileRow, field: str, item: Any, group: int) -> list[Evidence]:
    if isinstance(item, dict) and (isinstance(item.get("docid"), str) or is_integer(item.get("docid"))):
        return [Evidence(field, str(item["docid"]), group, item)]
    row.error("wrong type", field, seen=brief(item), expected='{"docid", "start_token", "end_token"}')
    return []
