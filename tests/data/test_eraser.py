from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from data_strategies import eraser_example, many
from hypothesis import given

from rationalize.data._eraser import read_eraser
from rationalize.data._eraser_writer import write_eraser
from rationalize.data.source import load
from rationalize.errors import DataError
from rationalize.types import Document, Example, Span
from searches import search


def evidence(docid, start, end, **more):
    return {"docid": docid, "start_token": start, "end_token": end, **more}


def make(folder, *rows, split="train", shortcuts=None, **docs):
    (folder / "docs").mkdir(parents=True)
    for docid, text in (docs or {"d": "a good film .\nreally !"}).items():
        (folder / "docs" / docid).write_bytes(text if isinstance(text, bytes) else text.encode())
    (folder / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    if shortcuts is not None:
        (folder / "shortcuts").mkdir()
        (folder / "shortcuts" / f"{split}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in shortcuts))
    return folder


def row(id="x", evidences=(), **more):
    return {"annotation_id": id, "classification": "POS", "evidences": list(evidences), "query": None, **more}


@search(60)
@given(many(eraser_example))
def test_what_is_written_is_read_back(examples):
    with tempfile.TemporaryDirectory() as folder:
        assert write_eraser(Path(folder), {"train": examples}) == {}
        assert tuple(read_eraser(Path(folder), "train")) == examples


def test_tokens_become_characters(tmp_path):
    make(tmp_path, row(evidences=[[evidence("d", 1, 3, text="good film")], [evidence("d", 3, 5)]]))
    (example,) = read_eraser(tmp_path, "train")
    assert example.rationale == (Span(2, 11, 0), Span(12, 20, 1))
    assert [example.text[span.start : span.end] for span in example.rationale] == ["good film", ".\nreally"]
    assert example.documents == (Document("d", 0, 22),)
    assert (example.label, example.query, example.shortcuts) == ("POS", None, None)


def test_only_ascii_white_space_parts_tokens(tmp_path):
    text = "a\u00a0b\u2028c\r\n日本語 d\x1ce\tf"
    make(tmp_path, row(evidences=[[evidence("d", 1, 2)], [evidence("d", 2, 3)]]), d=text)
    (example,) = read_eraser(tmp_path, "train")
    assert example.text == text
    assert [text[span.start : span.end] for span in example.rationale] == ["日本語", "d\x1ce"]


def test_documents_are_those_listed_else_those_of_the_evidence_else_the_one_of_the_row(tmp_path):
    docs = {"x": "own", "d": "one two", "e": "three"}
    make(
        tmp_path,
        row("x"),
        row("y", [[evidence("e", 0, 1), evidence("d", 1, 2)]], docids=None),
        row("z", [[evidence("e", 0, 1)]], docids=["d", "e"]),
        **docs,
    )
    x, y, z = read_eraser(tmp_path, "train")
    assert (x.text, x.rationale) == ("own", ())
    assert (y.text, y.rationale) == ("three\none two", (Span(0, 5), Span(10, 13)))
    assert (z.text, z.rationale) == ("one two\nthree", (Span(8, 13),))
    assert z.documents == (Document("d", 0, 7), Document("e", 8, 13))


def test_documents_in_one_file(tmp_path):
    lines = [{"docid": "a/../b", "document": "one two\r\n"}, {"docid": "c", "document": "three"}]
    (tmp_path / "docs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "test.jsonl").write_text(json.dumps(row(evidences=[[evidence("a/../b", 1, 2)]])))
    (example,) = load(tmp_path).splits["test"]
    assert (example.text, example.rationale) == ("one two\r\n", (Span(4, 7),))


def test_empty_evidence_is_dropped_and_counted(tmp_path):
    odd = evidence("d", 2, 2, text="", start_sentence=-1, end_sentence=-1)
    make(tmp_path, row("x", [[odd, evidence("d", 0, 1)]], docids=None), row("y", docids=["d"]))
    data = load(tmp_path)
    assert [example.rationale for example in data.splits["train"]] == [(Span(0, 1),), ()]
    assert data.notes == {
        "evidences with sentence index -1": 1,
        "rows without evidence": 1,
        "zero-length span": 1,
    }


def test_no_annotation_is_not_an_empty_annotation(tmp_path):
    make(
        tmp_path,
        row("x", docids=["d"]),
        row("y", docids=["d"]),
        row("z") | {"evidences": None, "docids": ["d"]},
    )
    (tmp_path / "unannotated").mkdir()
    (tmp_path / "unannotated" / "train.jsonl").write_text('{"annotation_id": "y"}\n')
    assert [example.rationale for example in read_eraser(tmp_path, "train")] == [(), None, None]


def test_shortcuts_lie_beside_the_split(tmp_path):
    marked = [
        {"annotation_id": "x", "shortcuts": [evidence("d", 0, 2)]},
        {"annotation_id": "y", "shortcuts": []},
    ]
    make(tmp_path, *(row(id, docids=["d"]) for id in "xyz"), shortcuts=marked)
    assert [example.shortcuts for example in read_eraser(tmp_path, "train")] == [(Span(0, 6),), (), None]


@pytest.mark.parametrize(
    ("bad", "parts"),
    [
        (row("x", [[evidence("nope", 0, 1)]]), ["evidences[0][0].docid", "unknown document", "'nope'"]),
        (row("x", [[evidence("../d.jsonl", 0, 1)]]), ["unknown document"]),
        (row("x", docids=["nope"]), ["docids", "unknown document"]),
        (row("nope"), ["unknown document"]),
        (row("x", [[evidence("e", 0, 1)]], docids=["d"]), ["unknown document", "'e'"]),
        (row("x", [[evidence("d", 5, 7)]]), ["evidences[0][0]", "outside", "5, 7", "0 to 6 (tokens)"]),
        (row("x", [[evidence("d", 6, 7)]]), ["outside"]),
        (row("x", [[evidence("d", -1, 2)]]), ["negative"]),
        (row("x", [[evidence("d", 3, 2)]]), ["start after end"]),
        (row("x", [[evidence("d", "1", 2)]]), ["not an integer", "'1', 2"]),
        (row("x", [[evidence("d", True, 2)]]), ["not an integer"]),
        (row("x", [[{"docid": "d"}]]), ["not an integer", "None"]),
        (row("x", [evidence("d", 0, 1)]), ["evidences[0]", "wrong type", "a list"]),
        (row("x", [[{"start_token": 0}]]), ["evidences[0][0]", "wrong type"]),
        (row("x", docids="d"), ["docids", "wrong type"]),
        (row("x", docids=["blank"]), ["empty text"]),
        (row("x", docids=["latin"]), ["docs/latin", "not UTF-8", "0xe9 at byte 4"]),
        ({"classification": "POS"}, ["annotation_id", "missing field"]),
    ],
)
def test_a_bad_row_is_named_with_its_place_and_field(tmp_path, bad, parts):
    docs = {"d": "one two three four five six", "e": "x", "blank": " \n", "latin": "café".encode("latin-1")}
    make(tmp_path / "set", bad, **docs)
    with pytest.raises(DataError) as caught:
        list(read_eraser(tmp_path / "set", "train"))
    expected = [*parts, "rationalize data check"]
    assert [part for part in expected if part not in str(caught.value)] == []


def test_spans_that_are_no_whole_tokens_are_moved_and_counted(tmp_path):
    documents = (Document("d", 0, 7), Document("e", 8, 13))
    spans = (Span(1, 3), Span(3, 4), Span(4, 10), Span(8, 13))
    example = Example("x", "one two\nthree", "a", rationale=spans, documents=documents)
    changes = write_eraser(tmp_path, {"train": [example]})
    assert changes == {
        "spans moved to token borders": 1,
        "spans dropped: they cover no token": 1,
        "spans cut at document borders": 1,
    }
    (read,) = read_eraser(tmp_path, "train")
    assert read.rationale == (Span(0, 3), Span(4, 7), Span(8, 13), Span(8, 13))


def test_a_document_id_has_one_text(tmp_path):
    examples = [Example(id, id, documents=(Document("d", 0, 1),)) for id in "xy"]
    with pytest.raises(DataError, match="another text"):
        write_eraser(tmp_path, {"train": examples})


def test_documents_must_make_up_the_text(tmp_path):
    example = Example("x", "one two", documents=(Document("d", 0, 3),))
    with pytest.raises(DataError, match="do not make up"):
        write_eraser(tmp_path, {"train": [example]})


def test_a_document_is_cut_into_tokens_once(tmp_path, monkeypatch):
    from rationalize.data import _eraser_documents as eraser_documents

    cut = []
    tokenize = eraser_documents.tokenize
    monkeypatch.setattr(
        eraser_documents, "tokenize", lambda docid, text: cut.append(docid) or tokenize(docid, text)
    )
    make(tmp_path, *(row(str(number), docids=["d"]) for number in range(50)))
    assert len(list(read_eraser(tmp_path, "train"))) == 50
    assert cut == ["d"]
