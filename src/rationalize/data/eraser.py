"""ERASER's layout: `<split>.jsonl` with annotations, `docs/<docid>` with documents, evidence by token.

An example's text is its documents joined by line feeds. `shortcuts/<split>.jsonl`, if there, says which
tokens are shortcuts: `{"annotation_id", "shortcuts": [{"docid", "start_token", "end_token"}]}`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from rationalize.data.eraser_documents import Documents, Layout, TokenizedDocument, join
from rationalize.data.fields import (
    MAX_GROUPS,
    id_of,
    is_integer,
    label_of,
    need_words,
    offsets,
    optional_string,
)
from rationalize.data.findings import Findings, Row, brief
from rationalize.data.rows import Tally, json_rows, keep_good
from rationalize.data.store import Files, opened
from rationalize.types import Example, Span

_OPTIONAL = ("classification", "docids", "evidences", "query", "query_type")


def read_eraser(path: Path, split: str) -> Iterator[Example]:
    """The examples of `<split>.jsonl` in an ERASER folder or archive."""
    with opened(path) as (files, _):
        yield from EraserReader(files, Findings(path, strict=True)).examples(f"{split}.jsonl", Tally())


class EraserReader:
    """Reads the splits of one ERASER data set; documents are shared between rows and splits."""

    def __init__(self, files: Files, findings: Findings) -> None:
        self._files = files
        self._findings = findings
        self.documents = Documents(files, findings)

    def examples(self, name: str, tally: Tally) -> Iterator[Example]:
        """The examples of one split file."""
        shortcuts = self._shortcut_rows(PurePosixPath(name).stem)
        with self._files.open(name) as stream:
            rows = self._steady(json_rows(stream, self._files.place(name), self._findings))
            yield from keep_good(rows, lambda row: self._example(row, shortcuts), tally)
        for annotation_id, row in (shortcuts or {}).items():
            expected = f"an annotation of {name}, each once"
            row.warning("shortcuts of no row", "annotation_id", seen=brief(annotation_id), expected=expected)

    def _example(self, row: Row, shortcuts: dict[str, Row] | None) -> Example:
        annotation_id = id_of(row, "annotation_id")
        evidences = self._evidence_items(row)
        layout = join(self._documents_of(row, annotation_id, evidences or []))
        rationale = None if evidences is None else self._spans(row, evidences, layout)
        if row.fine:
            need_words(row, "docids", layout.text)
            if rationale == ():
                self._findings.note("rows without evidence")
        marked = (shortcuts or {}).pop(annotation_id, None)
        return Example(
            id=annotation_id,
            text=layout.text,
            label=label_of(row, "classification"),
            query=optional_string(row, "query"),
            rationale=rationale,
            documents=() if row.values.get("unnamed_document") is True else layout.documents,
            shortcuts=None if marked is None else self._shortcuts(marked, layout),
        )

    def _evidence_items(self, row: Row) -> list[tuple[str, dict[str, Any], int]] | None:
        """Every evidence with the name of its field and its group; None where nobody annotated."""
        value = row.values.get("evidences")
        if value is None or row.values.get("annotated") is False:
            return None
        items = []
        for group, members in enumerate(_list(row, "evidences", value)):
            field = f"evidences[{group}]"
            for index, item in enumerate(_list(row, field, members)):
                items += _item(row, f"{field}[{index}]", item, group)
        return items

    def _documents_of(
        self, row: Row, annotation_id: str, evidences: list[tuple[str, dict[str, Any], int]]
    ) -> list[TokenizedDocument]:
        listed = [str(docid) for docid in _list(row, "docids", row.values.get("docids") or [])]
        wanted = listed or [item["docid"] for _, item, _ in evidences] or [annotation_id]
        if len(set(listed)) < len(listed):
            row.warning("document named twice", "docids", seen=brief(listed), expected="each docid once")
        found = {docid: self.documents.get(docid) for docid in wanted}
        for docid in (docid for docid, document in found.items() if document is None):
            if listed or not evidences:  # else the evidences that name it are reported
                self._unknown(row, "docids", docid)
        return [document for document in found.values() if document is not None]

    def _unknown(self, row: Row, field: str, docid: str) -> None:
        expected = f"a readable document in {self._files.place('docs')}, named in docids if there are any"
        row.error("unknown document", field, seen=brief(docid), expected=expected)

    def _spans(
        self, row: Row, items: Iterable[tuple[str, dict[str, Any], int]], layout: Layout
    ) -> tuple[Span, ...]:
        found = (self._span(row, field, item, group, layout) for field, item, group in items)
        return tuple(span for span in found if span)

    def _span(self, row: Row, field: str, item: dict[str, Any], group: int, layout: Layout) -> Span | None:
        if item["docid"] not in layout.sources:
            self._unknown(row, f"{field}.docid", item["docid"])
            return None
        document, at = layout.sources[item["docid"]]
        if item.get("start_sentence") == -1:
            self._findings.note("evidences with sentence index -1")
        start, end = item.get("start_token"), item.get("end_token")
        pair = offsets(row, field, start, end, len(document.tokens), "tokens")
        if pair is None:
            return None
        start, end = document.tokens.starts[pair[0]], document.tokens.ends[pair[1] - 1]
        text = item.get("text")
        if isinstance(text, str) and text.split() != (tokens := document.text[start:end].split()):
            row.warning("evidence text differs", field, seen=brief(text), expected=brief(" ".join(tokens)))
        return Span(at + start, at + end, group)

    def _shortcut_rows(self, split: str) -> dict[str, Row] | None:
        name = f"shortcuts/{split}.jsonl"
        if name not in self._files:
            return None
        with self._files.open(name) as stream:
            rows = list(json_rows(stream, self._files.place(name), self._findings))
        return {id_of(row, "annotation_id"): row for row in rows if row.fine}

    def _shortcuts(self, row: Row, layout: Layout) -> tuple[Span, ...] | None:
        items = []
        for index, item in enumerate(_list(row, "shortcuts", row.values.get("shortcuts"))):
            group = item.get("group", 0) if isinstance(item, dict) else 0
            if not is_integer(group) or not 0 <= group < MAX_GROUPS:
                row.error("wrong group", "shortcuts", seen=brief(group), expected="a small integer")
            else:
                items += _item(row, f"shortcuts[{index}]", item, group)
        spans = self._spans(row, items, layout)
        return spans if row.fine else None

    def _steady(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Pass rows on, and report optional fields that come up only after the first row.

        The official scorer looks at the first row alone to decide which fields there are.
        """
        first: Row | None = None
        late: set[str] = set()
        for row in rows:
            first = first or row
            late.update(field for field in _OPTIONAL if field in row.values and field not in first.values)
            yield row
        if first:
            for field in sorted(late):
                expected = "it in every row or in none"
                first.warning("field only in later rows", field, seen="nothing", expected=expected)


def _list(row: Row, field: str, value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    row.error("wrong type", field, seen=brief(value), expected="a list")
    return []


def _item(row: Row, field: str, item: Any, group: int) -> list[tuple[str, dict[str, Any], int]]:
    """The evidence with its docid as a string, in a list; an empty list (and an error) if it is none."""
    if not isinstance(item, dict) or not isinstance(item.get("docid"), str | int):
        row.error("wrong type", field, seen=brief(item), expected='{"docid", "start_token", "end_token"}')
        return []
    return [(field, item | {"docid": str(item["docid"])}, group)]
