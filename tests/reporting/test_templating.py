from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rationalize.printable import make_printable, to_one_line
from rationalize.reporting.templating import escape_markdown


@given(st.text(st.characters(codec=None)))
def test_printable_text_has_no_control_codes_and_can_be_written(text):
    shown = make_printable(text)
    shown.encode("utf-8")
    assert all(character in "\t\n" or unicodedata.category(character) != "Cc" for character in shown)


def test_what_is_harmless_stays():
    text = "tab\there, café, مرحبا, 👩‍👩‍👧, a\u00a0b\nnext"
    assert make_printable(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31mb", "a␛[31mb"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("\ud800", "�"),
        ("\u202ex", "�x"),
        ("\x7f\x9b", "␡�"),
    ],
)
def test_control_codes_become_pictures(text, shown):
    assert make_printable(text) == shown


def test_one_line_keeps_no_break_spaces():
    assert to_one_line(" a\n\u2028 b\u00a0% ") == "a b\u00a0%"


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a|b", r"a\|b"),
        ("<b>*x*_y_", r"\<b\>\*x\*\_y\_"),
        ("# title", r"\# title"),
        ("- item", r"\- item"),
        ("1. item", r"1\. item"),
        ("1.5", "1.5"),
        ("[a](http://b)", r"\[a\](http://b)"),
    ],
)
def test_markdown_is_not_obeyed(text, escaped):
    assert escape_markdown(text) == escaped


@given(st.text())
def test_markdown_keeps_a_table_row_whole(text):
    assert "\n" not in escape_markdown(text)
    assert not re.search(r"(?<!\\)(?:\\\\)*\|", escape_markdown(text))
