from __future__ import annotations

import json

import pytest
from data_strategies import many, plain_example, there_and_back
from hypothesis import given

from rationalize.data.jsonl import read_jsonl, write_jsonl
from rationalize.data.read_options import Fields, ReadOptions
from rationalize.errors import DataError
from rationalize.types import Example, Span
from searches import search


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@search(80)
@given(many(plain_example))
def test_what_is_written_is_read_back(examples):
    assert there_and_back(write_jsonl, read_jsonl, "train.jsonl", examples) == examples


def test_a_row_becomes_an_example(tmp_path):
    path = write(
        tmp_path / "a.jsonl",
        {"text": "good film", "label": 1, "rationale": [[0, 4], [5, 9, 2]], "id": 7},
        {"text": "bad", "label": True, "query": "why?", "rationale": []},
        {"text": "none"},
    )
    assert list(read_jsonl(path)) == [
        Example("7", "good film", "1", rationale=(Span(0, 4), Span(5, 9, 2))),
        Example("a-2", "bad", "True", query="why?", rationale=()),
        Example("a-3", "none"),
    ]


def test_other_field_names(tmp_path):
    path = write(tmp_path / "a.jsonl", {"review": "fine", "stars": 5})
    (example,) = read_jsonl(path, ReadOptions(Fields(text="review", label="stars")))
    assert (example.text, example.label) == ("fine", "5")


@pytest.mark.parametrize(
    ("row", "parts"),
    [
        ({"label": "x"}, ["text", "missing field", "saw label"]),
        ({"text": 3}, ["text", "wrong type", "saw 3"]),
        ({"text": " \n"}, ["text", "empty text"]),
        ({"text": None}, ["text", "empty text"]),
        ({"text": "a", "label": []}, ["label", "wrong type"]),
        ({"text": "a", "label": float("nan")}, ["label", "wrong type"]),
        ({"text": "a", "query": 1}, ["query", "wrong type"]),
        ({"text": "a", "id": ""}, ["id", "wrong type"]),
        ({"text": "a", "rationale": "0-1"}, ["rationale", "not in the text", "'0-1'"]),
        ({"text": "a", "rationale": {}}, ["rationale", "wrong type"]),
        ({"text": "a", "rationale": [1]}, ["rationale[0]", "wrong type", "list of tokens"]),
        ({"text": "\u00a0\u200b"}, ["text", "empty text"]),
        ({"tokens": ["a", 1]}, ["tokens", "wrong type", "list of tokens"]),
        (
            {"tokens": ["a", "b"], "rationale": [0]},
            ["rationale", "wrong number of marks: saw 1", "expected 2"],
        ),
        ({"tokens": ["a", "b"], "rationale": [[0, 1], [1]]}, ["rationale[1]", "saw 1, expected 2"]),
        ({"tokens": ["a", "b"], "rationale": [0, 2]}, ["rationale", "wrong type", "0 or 1"]),
        ({"text": "a", "rationale": [[0]]}, ["rationale[0]", "wrong type"]),
        ({"text": "ab", "rationale": [[0, 1], [1, 3]]}, ["rationale[1]", "outside", "0 to 2"]),
        ({"text": "ab", "rationale": [[-1, 1]]}, ["negative offset"]),
        ({"text": "ab", "rationale": [[2, 1]]}, ["start after end"]),
        ({"text": "ab", "rationale": [[0, 1.0]]}, ["not an integer"]),
        ({"text": "ab", "rationale": [[False, True]]}, ["not an integer"]),
        ({"text": "ab", "rationale": [[0, 1, 10**9]]}, ["wrong group"]),
        ({"text": "ab", "documents": [{"id": "d", "start": 0, "end": 9}]}, ["documents[0]", "outside"]),
        ({"text": "a\ud800"}, ["surrogate"]),
    ],
)
def test_a_bad_row_is_named_with_its_place_and_field(tmp_path, row, parts):
    path = write(tmp_path / "a.jsonl", {"text": "fine"}, row)
    with pytest.raises(DataError) as caught:
        list(read_jsonl(path))
    message = str(caught.value)
    assert message.startswith(f"{path}:2: ")
    assert [part for part in [*parts, "expected", "rationalize data check"] if part not in message] == []


@pytest.mark.parametrize("raw", [b"{", b"[1]", b"\xff{}", b"[" * 100_000, b'{"text": "a"} x', b"1" * 5000])
def test_lines_that_are_no_rows(tmp_path, raw):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text": "fine"}\n' + raw + b"\n")
    with pytest.raises(DataError, match=r"a\.jsonl:2: "):
        list(read_jsonl(path))


def test_line_ends_marks_and_blank_lines_do_not_matter(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes('\ufeff{"text": "a\u2028b"}\r\n\r\n{"text": "c"}\n\n\n'.encode())
    assert [(example.id, example.text) for example in read_jsonl(path)] == [("a-1", "a\u2028b"), ("a-3", "c")]


def test_an_id_may_occur_once(tmp_path):
    path = write(tmp_path / "a.jsonl", {"text": "a", "id": "x"}, {"text": "b", "id": "x"})
    with pytest.raises(DataError, match=r"a\.jsonl:2: id: duplicate id.*line 1"):
        list(read_jsonl(path))


def test_half_a_surrogate_pair_is_not_written(tmp_path):
    with pytest.raises(DataError, match="surrogate"):
        write_jsonl(tmp_path / "a.jsonl", [Example("x", "a\ud800")])


def test_reading_is_lazy(tmp_path):
    path = write(tmp_path / "a.jsonl", {"text": "fine"}, {"text": 1})
    assert next(read_jsonl(path)).text == "fine"
