from __future__ import annotations

import csv
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from data_strategies import any_text, many, plain_example, texts, there_and_back
from hypothesis import given, settings
from hypothesis import strategies as st

from rationalize.data._tabular import read_table, write_table
from rationalize.data.read_options import Fields, ReadOptions
from rationalize.errors import DataError
from rationalize.types import Example, Span
from searches import search


def write(path, text):
    path.write_bytes(text.encode("utf-8"))
    return path


@settings(deadline=None)
@given(
    st.lists(st.tuples(texts, any_text, any_text), min_size=1, max_size=4), st.sampled_from(["csv", "tsv"])
)
def test_cells_of_a_csv_writer_come_back(rows, kind):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a.{kind}"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, dialect="excel" if kind == "csv" else "excel-tab")
            writer.writerows([("text", "label", "query"), *rows])
        read = [(example.text, example.label, example.query) for example in read_table(path)]
    assert read == [(text, label or None, query or None) for text, label, query in rows]


def test_columns_become_fields(tmp_path):
    path = write(
        tmp_path / "a.csv",
        'id,text,label,rationale\nx,"a film, good",POS,"[[8, 12]]"\ny,bad,NEG,[]\n,so so,,\n',
    )
    assert list(read_table(path)) == [
        Example("x", "a film, good", "POS", rationale=(Span(8, 12),)),
        Example("y", "bad", "NEG", rationale=()),
        Example("a-4", "so so"),
    ]


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
@pytest.mark.parametrize("kind", ["csv", "tsv"])
def test_any_usual_sign_may_separate_cells(tmp_path, sign, kind):
    rows = [["id", "text", "label"], ["x", '"one; two, three | four"', "A"]]
    path = write(tmp_path / f"a.{kind}", "".join(sign.join(row) + "\n" for row in rows))
    assert list(read_table(path)) == [Example("x", "one; two, three | four", "A")]


def test_a_header_of_one_cell(tmp_path):
    assert [each.text for each in read_table(write(tmp_path / "a.csv", "text\none; two | three\n"))] == [
        "one; two | three"
    ]


def test_words_as_rationale_and_names_of_columns(tmp_path):
    path = write(
        tmp_path / "a.csv",
        "nr;tweet;chosen\n7;so very good;very good\n8;good is good;good\n9;so so;\n10;a [ b ];[ b ]\n",
    )
    options = ReadOptions(Fields(text="tweet", id="nr", rationale="chosen"))
    assert list(read_table(path, options)) == [
        Example("7", "so very good", rationale=(Span(3, 12),)),
        Example("8", "good is good"),  # which of the two is meant cannot be known
        Example("9", "so so"),
        Example("10", "a [ b ]", rationale=(Span(2, 7),)),
    ]


@search(60)
@given(many(plain_example))
def test_what_is_written_is_read_back_but_for_empty_strings(examples):
    wanted = tuple(replace(each, label=each.label or None, query=each.query or None) for each in examples)
    assert there_and_back(write_table, read_table, "a.csv", examples) == wanted


def test_lines_are_counted_through_quoted_line_ends(tmp_path):
    path = write(tmp_path / "a.csv", 'text,label\r\n"one\r\ntwo\nthree",x\r\n\r\n"four\n",y\r\n"",z\r\n')
    with pytest.raises(DataError, match=r"a\.csv:8: text: empty text"):
        list(read_table(path))
    assert next(read_table(path)) == Example("a-2", "one\r\ntwo\nthree", "x")


def test_long_cells_and_a_byte_order_mark(tmp_path):
    path = write(tmp_path / "a.tsv", "\ufefftext\tlabel\n" + "long " * 60_000 + "\tx\n")
    (example,) = read_table(path)
    assert (len(example.text), example.label) == (300_000, "x")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("body,label\na,b\n", r"a\.csv:1: wrong header.*'body'"),
        ("text,text\na,b\n", r"a\.csv:1: wrong header"),
        ("text,label\na,b\na\n", r"a\.csv:3: wrong number of cells: saw 1, expected 2"),
        ("text,label\na,b,c\n", r"a\.csv:2: wrong number of cells"),
        ('text,label\na,b\n"c,d\n', r"a\.csv:3: broken quoting"),
        ('text,label\n"a"b,c\n', r"a\.csv:2: broken quoting"),
        ("text,rationale\na,[0-1\n", r"a\.csv:2: rationale: rationale not in the text"),
        ("text,shortcuts\na,[0-1\n", r"a\.csv:2: shortcuts: not JSON"),
    ],
)
def test_bad_tables(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        list(read_table(write(tmp_path / "a.csv", text)))


def test_bytes_that_are_no_utf8(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"text,label\nfine,a\nna\xefve,b\n")
    with pytest.raises(DataError, match=r"a\.csv:3: text: not UTF-8"):
        list(read_table(path))
