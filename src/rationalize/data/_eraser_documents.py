"""Documents of an ERASER data set: exact text, and where each token lies in it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from rationalize.data._word_index import WordIndex, index_tokens
from rationalize.data.data_files import Files
from rationalize.data.fields import read_id
from rationalize.data.findings import Findings, shorten
from rationalize.data.rows import read_json_rows
from rationalize.types import Document

_CACHED = 4096
JOINT = "\n"


@dataclass(frozen=True, slots=True)
class TokenizedDocument:
    """A document and where its tokens lie."""

    id: str
    text: str
    tokens: WordIndex


def name_unnamed(split: str, annotation_id: str) -> str:
    """Return the document id for an example that names no document; the reader drops it again."""
    return f"{split}.{annotation_id}"


def tokenize(docid: str, text: str) -> TokenizedDocument:
    """Find the tokens of a document."""
    return TokenizedDocument(docid, text, index_tokens(text))


@dataclass(frozen=True, slots=True)
class Layout:
    """Several documents joined to one text."""

    text: str
    documents: tuple[Document, ...]
    sources: dict[str, tuple[TokenizedDocument, int]]


def join(documents: Iterable[TokenizedDocument]) -> Layout:
    """Lay documents one after the other, a line feed between them."""
    sources: dict[str, tuple[TokenizedDocument, int]] = {}
    at = 0
    for document in documents:
        sources[document.id] = (document, at)
        at += len(document.text) + len(JOINT)
    placed = tuple(Document(docid, at, at + len(doc.text)) for docid, (doc, at) in sources.items())
    return Layout(JOINT.join(doc.text for doc, _ in sources.values()), placed, sources)


class Documents:
    """The documents of a data set by id, from `docs/<docid>` or from `docs.jsonl`."""

    def __init__(self, files: Files, findings: Findings) -> None:
        self._files = files
        self._findings = findings
        self._texts = self._from_rows() if "docs.jsonl" in files else None
        self.used: set[str] = set()
        # Rows share documents (60 of them each in MultiRC), so a document is cut into tokens once.
        self.get = lru_cache(maxsize=_CACHED)(self._get)

    def __contains__(self, docid: str) -> bool:
        return docid in self._texts if self._texts is not None else f"docs/{docid}" in self._files

    def unused(self) -> set[str]:
        """Return the ids of documents that no row uses."""
        known = set(self._texts) if self._texts is not None else self._files.names_below("docs")
        return known - self.used

    def _get(self, docid: str) -> TokenizedDocument | None:
        """Return the document, or None if it is missing or cannot be read."""
        if docid not in self:
            return None
        self.used.add(docid)
        text = self._texts[docid] if self._texts is not None else self._decode(docid)
        return None if text is None else tokenize(docid, text)

    def _decode(self, docid: str) -> str | None:
        data = self._files.read(f"docs/{docid}")
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            seen = f"byte 0x{data[error.start]:02x} at byte {error.start + 1}"
            place = self._files.place(f"docs/{docid}")
            self._findings.error("not UTF-8", place, seen=seen, expected="UTF-8 text")
            return None
        if b"\r\n" in data:
            self._findings.note("documents with CRLF line ends")
        return text

    def _from_rows(self) -> dict[str, str]:
        texts: dict[str, str] = {}
        with self._files.open("docs.jsonl") as stream:
            for row in read_json_rows(stream, self._files.place("docs.jsonl"), self._findings):
                docid, text = read_id(row, "docid"), row.values.get("document")
                if not isinstance(text, str):
                    row.error("wrong type", "document", seen=shorten(text), expected="a string")
                elif docid in texts:
                    row.error("duplicate document", "docid", seen=shorten(docid), expected="each docid once")
                elif row.fine:
                    texts[docid] = text
        return texts
