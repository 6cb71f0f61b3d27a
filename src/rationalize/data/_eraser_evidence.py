"""Pieces of evidence in an ERASER row: tokens of a document, in groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rationalize.data._eraser_documents import Layout
from rationalize.data.fields import MAX_GROUPS, check_offsets, is_integer
from rationalize.data.findings import FileRow, shorten
from rationalize.types import Span


@dataclass(frozen=True, slots=True)
class Evidence:
    """Tokens of a document as given in a row; only the document's id has been checked."""

    field: str
    docid: str
    group: int
    values: Mapping[str, Any]


def read_evidences(row: FileRow) -> list[Evidence] | None:
    """Return the evidence of a row in all its groups; None where nobody annotated."""
    value = row.values.get("evidences")
    if value is None:
        return None
    found: list[Evidence] = []
    for group, members in enumerate(require_list(row, "evidences", value)):
        field = f"evidences[{group}]"
        for index, item in enumerate(require_list(row, field, members)):
            found += _read_evidence(row, f"{field}[{index}]", item, group)
    return found


def read_shortcuts(row: FileRow) -> list[Evidence]:
    """Return the shortcuts in a row of `shortcuts/<split>.jsonl`."""
    found: list[Evidence] = []
    for index, item in enumerate(require_list(row, "shortcuts", row.values.get("shortcuts"))):
        field = f"shortcuts[{index}]"
        group = item.get("group", 0) if isinstance(item, dict) else 0
        if is_integer(group) and 0 <= group < MAX_GROUPS:
            found += _read_evidence(row, field, item, group)
        else:
            expected = f"an integer, 0 to {MAX_GROUPS - 1}"
            row.error("wrong group", f"{field}.group", seen=shorten(group), expected=expected)
    return found


def locate_evidence(row: FileRow, evidences: Iterable[Evidence], layout: Layout) -> tuple[Span, ...]:
    """Locate the evidence in the joined text; evidence that covers nothing is left out, with a warning."""
    return tuple(_yield_spans(row, evidences, layout))


def _yield_spans(row: FileRow, evidences: Iterable[Evidence], layout: Layout) -> Iterator[Span]:
    for evidence in evidences:
        if evidence.docid not in layout.sources:
            report_unknown_document(row, f"{evidence.field}.docid", evidence.docid)
            continue
        document, at = layout.sources[evidence.docid]
        if evidence.values.get("start_sentence") == -1:
            row.findings.note("evidences with sentence index -1")
        first, last = evidence.values.get("start_token"), evidence.values.get("end_token")
        pair = check_offsets(row, evidence.field, first, last, len(document.tokens), "tokens")
        if pair:
            start, end = document.tokens.starts[pair[0]], document.tokens.ends[pair[1] - 1]
            _compare(row, evidence, document.text[start:end])
            yield Span(at + start, at + end, evidence.group)


def _compare(row: FileRow, evidence: Evidence, text: str) -> None:
    """Offsets count; but evidence that quotes other words than they point at deserves a look."""
    claimed, words = evidence.values.get("text"), text.split()
    if isinstance(claimed, str) and claimed.split() != words:
        expected = shorten(" ".join(words))
        row.warning("evidence text differs", evidence.field, seen=shorten(claimed), expected=expected)


def report_unknown_document(row: FileRow, field: str, docid: str) -> None:
    """Report a document that is not there, cannot be read, or is not among the row's `docids`."""
    expected = "a readable document in docs, and in docids if the row has any"
    row.error("unknown document", field, seen=shorten(docid), expected=expected)


def require_list(row: FileRow, field: str, value: Any) -> list[Any]:
    """Return the value if it is a list; else report it and return an empty one."""
    if isinstance(value, list):
        return value
    row.error("wrong type", field, seen=shorten(value), expected="a list")
    return []


def _read_evidence(row: FileRow, field: str, item: Any, group: int) -> list[Evidence]:
    if isinstance(item, dict) and (isinstance(item.get("docid"), str) or is_integer(item.get("docid"))):
        return [Evidence(field, str(item["docid"]), group, item)]
    row.error("wrong type", field, seen=shorten(item), expected='{"docid", "start_token", "end_token"}')
    return []
