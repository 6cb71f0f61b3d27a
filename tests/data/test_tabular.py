from __future__ import annotations

import csv
import tempfile
from pathlib import Path

import pytest
from data_strategies import any_text, texts
from hypothesis import given, settings
from hypothesis import strategies as st

from rationalize.data.tabular import read_table
from rationalize.errors import DataError
from rationalize.types import Example, Span


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
        ("text,rationale\na,[0-1\n", r"a\.csv:2: rationale: not JSON"),
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
