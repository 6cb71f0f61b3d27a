"""ERASER's layout: `<split>.jsonl` with annotations, `docs/<docid>` with documents, evidence by token.

An example's text is its documents joined by line feeds. Beside the splits may lie what ERASER has no fields for:
`shortcuts/<split>.jsonl` says which tokens are shortcuts (`{"annotation_id", "shortcuts": [{"docid", "start_token",
"end_token"}]}`), `unannotated/<split>.jsonl` in which rows nobody looked for evidence (`{"annotation_id"}`), and
`metadata/<split>.jsonl` what else is known of them (`{"annotation_id", "source", …}`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from dataclasses import fields as dataclass_fields
from pathlib import Path, PurePosixPath

from rationalize.data._eraser_documents import Documents, Layout, join, name_unnamed
from rationalize.data._eraser_evidence import (
    Evidence,
    locate_evidence,
    read_evidences,
    read_shortcuts,
    report_unknown_document,
    require_list,
)
from rationalize.data.data_files import Files, open_files
from rationalize.data.dataset import to_eraser_split
from rationalize.data.fields import (
    read_id,
    read_label,
    read_metadata,
    read_optional_string,
    report_empty_text,
)
from rationalize.data.findings import FileRow, Findings, shorten
from rationalize.data.rows import Tally, keep_good, read_json_rows
from rationalize.text.words import WHITE_SPACE
from rationalize.types import Example, Span

_OPTIONAL = ("classification", "docids", "evidences", "query", "query_type")
_KNOWN = ("annotation_id", *_OPTIONAL)


@dataclass(frozen=True)
class _Beside:
    """The rows of the files beside a split, by annotation; the fields are the names of their folders."""

    shortcuts: dict[str, FileRow]
    unannotated: dict[str, FileRow]
    metadata: dict[str, FileRow]

    def kinds(self) -> tuple[tuple[str, dict[str, FileRow]], ...]:
        """What a row that fits no annotation is called, with those that are left."""
        return (
            ("shortcuts of no row", self.shortcuts),
            ("no annotation of no row", self.unannotated),
            ("metadata of no row", self.metadata),
        )


def read_eraser(path: Path, split: str) -> Iterator[Example]:
    """Yield the examples of `<split>.jsonl` in an ERASER folder or archive."""
    with open_files(path) as (files, _):
        reader = EraserReader(files, Findings(path, strict=True))
        yield from reader.examples(f"{to_eraser_split(split)}.jsonl", Tally())


class EraserReader:
    """Reads the splits of one ERASER data set; documents are shared between rows and splits."""

    def __init__(self, files: Files, findings: Findings) -> None:
        self._files = files
        self._findings = findings
        self.documents = Documents(files, findings)

    def examples(self, name: str, tally: Tally) -> Iterator[Example]:
        """Yield the examples of one split file."""
        split = PurePosixPath(name).stem
        beside = _Beside(*(self._beside(each.name, split) for each in dataclass_fields(_Beside)))
        with self._files.open(name) as stream:
            rows = _report_late_fields(read_json_rows(stream, self._files.place(name), self._findings))
            yield from keep_good(rows, lambda row: self._example(row, split, beside), tally)
        for kind, left in beside.kinds():
            for annotation_id, row in left.items():
                seen, expected = shorten(annotation_id), f"an annotation of {name}"
                row.warning(kind, "annotation_id", seen=seen, expected=expected)

    def _example(self, row: FileRow, split: str, beside: _Beside) -> Example:
        annotation_id = read_id(row, "annotation_id")
        evidences = None if beside.unannotated.pop(annotation_id, None) else read_evidences(row)
        layout = self._layout(row, annotation_id, evidences or [])
        rationale = None if evidences is None else locate_evidence(row, evidences, layout)
        if row.fine:
            if not layout.text.strip(WHITE_SPACE):
                report_empty_text(row, "docids", layout.text)
            self._findings.note("rows without evidence", int(rationale == ()))
        marked, more = beside.shortcuts.pop(annotation_id, None), beside.metadata.pop(annotation_id, None)
        return Example(
            id=annotation_id,
            text=layout.text,
            label=read_label(row, "classification"),
            query=read_optional_string(row, "query"),
            rationale=rationale,
            documents=() if [*layout.sources] == [name_unnamed(split, annotation_id)] else layout.documents,
            shortcuts=_read_shortcut_spans(marked, layout) if marked and row.fine else None,
            metadata=read_metadata(row, _KNOWN) | (read_metadata(more, _KNOWN) if more else {}),
        )

    def _layout(self, row: FileRow, annotation_id: str, evidences: list[Evidence]) -> Layout:
        """Join the row's documents: those it lists, else those of its evidence, else the one of its name."""
        listed = [str(docid) for docid in require_list(row, "docids", row.values.get("docids") or [])]
        if len(set(listed)) < len(listed):
            row.warning("document named twice", "docids", seen=shorten(listed), expected="each docid once")
        wanted = listed or [evidence.docid for evidence in evidences] or [annotation_id]
        found = {docid: self.documents.get(docid) for docid in wanted}
        for docid in (docid for docid, document in found.items() if document is None):
            if listed or not evidences:  # else the evidence that names it is reported
                report_unknown_document(row, "docids", docid)
        return join(document for document in found.values() if document)

    def _beside(self, folder: str, split: str) -> dict[str, FileRow]:
        """Read the rows of a file beside the split, by annotation; none if it does not exist."""
        name = f"{folder}/{split}.jsonl"
        rows: dict[str, FileRow] = {}
        if name in self._files:
            with self._files.open(name) as stream:
                for row in read_json_rows(stream, self._files.place(name), self._findings):
                    annotation_id = read_id(row, "annotation_id") if row.fine else ""
                    if row.fine and rows.setdefault(annotation_id, row) is not row:
                        seen, expected = shorten(annotation_id), "each annotation once"
                        row.error("duplicate id", "annotation_id", seen=seen, expected=expected)
        return rows


def _read_shortcut_spans(row: FileRow, layout: Layout) -> tuple[Span, ...] | None:
    spans = locate_evidence(row, read_shortcuts(row), layout)
    return spans if row.fine else None


def _report_late_fields(rows: Iterable[FileRow]) -> Iterator[FileRow]:
    """Pass rows on, and report optional fields that come up only after the first row.

    The official scorer looks at the first row alone to decide which fields there are.
    """
    first: FileRow | None = None
    late: set[str] = set()
    for row in rows:
        if row.fine:
            first = first or row
            late.update(field for field in _OPTIONAL if field in row.values and field not in first.values)
        yield row
    for field in sorted(late):
        if first:
            expected = "it in every row or in none"
            first.warning("field only in later rows", field, seen="nothing", expected=expected)
