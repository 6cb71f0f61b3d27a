"""Write ERASER's layout, so that the reader returns the same examples."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from rationalize.data._eraser_documents import Layout, TokenizedDocument, join, name_unnamed, tokenize
from rationalize.data.dataset import to_eraser_split
from rationalize.data.jsonl import encode_row
from rationalize.errors import DataError
from rationalize.files import json_line
from rationalize.types import Example, Scalar, Span

_FILE_NAME = re.compile(r'[^/\\:*?"<>|\x00-\x1f.][^/\\:*?"<>|\x00-\x1f]*')


class _Evidence(TypedDict):
    """A span in tokens of one document, in ERASER's form."""

    docid: str
    start_token: int
    end_token: int
    start_sentence: int
    end_sentence: int
    text: str


class _MarkedEvidence(_Evidence):
    group: int


class _Annotation(TypedDict):
    """A row of `<split>.jsonl`."""

    annotation_id: str
    classification: str | None
    docids: list[str]
    evidences: list[list[_Evidence]]
    query: str | None
    query_type: None


class _RowBeside(TypedDict, total=False):
    """A row of what ERASER has no field for."""

    annotation_id: str
    shortcuts: list[_MarkedEvidence]


def write_eraser(folder: Path, splits: Mapping[str, Iterable[Example]]) -> Counter[str]:
    """Write all splits into an existing folder, which is not atomic by itself.

    Tokens are the unit of the format: a span that ends inside one is widened to whole tokens, one that covers
    several documents is cut at their borders.

    Returns:
        How many spans could not be kept as they were, by kind. Empty: nothing was lost.
    """
    writer = _Writer(folder)
    for split, examples in splits.items():
        writer.write_split(split, examples)
    writer.write_documents()
    return writer.changes


class _Writer:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.texts: dict[str, str] = {}
        self.changes: Counter[str] = Counter()
        self._last: TokenizedDocument | None = None

    def write_split(self, split: str, examples: Iterable[Example]) -> None:
        split = to_eraser_split(split)
        shortcuts: list[_RowBeside] = []
        unannotated: list[_RowBeside] = []
        metadata: list[dict[str, Scalar]] = []
        with (self.folder / f"{split}.jsonl").open("wb") as file:
            for example in examples:
                layout = self._layout(split, example)
                file.write(encode_row(self._row(example, layout), example))
                if example.shortcuts is not None:
                    shortcuts.append(self._shortcut_row(example.id, example.shortcuts, layout))
                if example.rationale is None:
                    unannotated.append({"annotation_id": example.id})
                if example.metadata:
                    metadata.append({**example.metadata, "annotation_id": example.id})
        self._write_beside("shortcuts", split, shortcuts)
        self._write_beside("unannotated", split, unannotated)
        self._write_beside("metadata", split, metadata)

    def _write_beside(self, folder: str, split: str, rows: Sequence[_RowBeside | dict[str, Scalar]]) -> None:
        """Write what ERASER has no field for; its scorer refuses rows with other fields."""
        if rows:
            (self.folder / folder).mkdir(exist_ok=True)
            path = self.folder / folder / f"{split}.jsonl"
            path.write_bytes("".join(map(json_line, rows)).encode("utf-8"))

    def write_documents(self) -> None:
        """Write one file per document into `docs`, or all into `docs.jsonl` if an id cannot be a file name."""
        if all(_FILE_NAME.fullmatch(docid) and len(docid.encode()) < 200 for docid in self.texts):
            (self.folder / "docs").mkdir()
            for docid, text in self.texts.items():
                (self.folder / "docs" / docid).write_bytes(text.encode("utf-8"))
        else:
            with (self.folder / "docs.jsonl").open("w", encoding="utf-8", newline="") as file:
                for docid, text in self.texts.items():
                    file.write(json_line({"docid": docid, "document": text}))

    def _layout(self, split: str, example: Example) -> Layout:
        texts = {doc.id: example.text[doc.start : doc.end] for doc in example.documents}
        texts = texts or {name_unnamed(split, example.id): example.text}
        for docid, text in texts.items():
            if self.texts.setdefault(docid, text) != text:
                raise DataError(
                    f"{split}: example {example.id!r}: document {docid!r} has another text than in an "
                    "earlier example. Expected one text for each document id; rename one of the two."
                )
        layout = join(self._tokenize(docid, text) for docid, text in texts.items())
        if layout.text != example.text or (example.documents and layout.documents != example.documents):
            raise DataError(
                f"{split}: example {example.id!r}: its documents do not make up its text. Expected them one "
                "after the other, each once, with a line feed between them; convert to jsonl instead."
            )
        return layout

    def _tokenize(self, docid: str, text: str) -> TokenizedDocument:
        if self._last is None or self._last.id != docid:
            self._last = tokenize(docid, text)
        return self._last

    def _row(self, example: Example, layout: Layout) -> _Annotation:
        spans = example.rationale or ()
        last_group = max((span.group for span in spans), default=-1)
        groups: list[list[_Evidence]] = [[] for _ in range(last_group + 1)]
        for span in spans:
            groups[span.group] += self._pieces(span, layout)
        return {
            "annotation_id": example.id,
            "classification": example.label,
            "docids": list(layout.sources),
            "evidences": groups,
            "query": example.query,
            "query_type": None,
        }

    def _shortcut_row(self, annotation_id: str, spans: Iterable[Span], layout: Layout) -> _RowBeside:
        marked: list[_MarkedEvidence] = [
            {**piece, "group": span.group} for span in spans for piece in self._pieces(span, layout)
        ]
        return {"annotation_id": annotation_id, "shortcuts": marked}

    def _pieces(self, span: Span, layout: Layout) -> list[_Evidence]:
        """Convert the span to tokens of the documents that it touches."""
        pieces, covered = [], []
        for document, at in layout.sources.values():
            tokens = document.tokens.touching(span.start - at, span.end - at)
            if tokens:
                start, end = document.tokens.starts[tokens[0]], document.tokens.ends[tokens[-1]]
                covered.append((at + start, at + end))
                pieces.append(_make_piece(document, tokens, document.text[start:end]))
        if not pieces:
            self.changes["spans dropped: they cover no token"] += 1
        elif len(pieces) > 1:
            self.changes["spans cut at document borders"] += 1
        elif covered != [(span.start, span.end)]:
            self.changes["spans moved to token borders"] += 1
        return pieces


def _make_piece(document: TokenizedDocument, tokens: range, text: str) -> _Evidence:
    return {
        "docid": document.id,
        "start_token": tokens.start,
        "end_token": tokens.stop,
        "start_sentence": -1,
        "end_sentence": -1,
        "text": " ".join(text.split()),
    }
