"""Gold spans that cut a word: told apart by what would mend them, and widened, shrunk or dropped."""

from __future__ import annotations

import json

import pytest

from rationalize.data._partial_words import find_cut_spans
from rationalize.data.read_options import ReadOptions
from rationalize.data.source import load
from rationalize.data.validate import check
from rationalize.errors import ConfigError
from rationalize.types import Example, Span

TEXT = "do is so amusing. really!!!"


def marked(text, start, end):
    return Example("x", text, rationale=(Span(start, end),))


def spans_in(text, spans, **options):
    (example,) = load([Example("x", text, rationale=tuple(Span(*span) for span in spans))], **options)["data"]
    return example.rationale


@pytest.mark.parametrize(
    ("text", "start", "end", "kind"),
    [
        (TEXT, 4, 16, "span cuts letters off a word"),
        (TEXT, 0, 25, "span cuts a word at punctuation"),
        (TEXT, 3, 8, None),
        (TEXT, 2, 9, None),
        (TEXT, 4, 9, "span is off by one"),
        ("an up, and down", 4, 7, "span is off by one"),
        ("so 😂😂 very good", 8, 12, "offsets count UTF-16 units"),
        ("so café, very good", 9, 13, None),
        ("ééé é very good", 10, 14, "offsets count bytes"),
    ],
)
def test_kinds(text, start, end, kind):
    found = [cut.kind for cut in find_cut_spans("a:1", marked(text, start, end), "unicode")]
    assert found == ([kind] if kind else [])


def test_utf16_offsets_are_recognized_where_they_cut():
    text = "so 😂 verygood film"
    assert text.encode("utf-16-le")[2 * 6 : 2 * 14].decode("utf-16-le") == "verygood"
    (cut,) = find_cut_spans("a:1", marked(text, 6, 14), "unicode")
    assert cut.kind == "offsets count UTF-16 units"
    assert cut.shown == "'so 😂 v[erygood ]film'"


def write(folder, rows):
    for split in ("train", "dev", "test"):
        own = [{**row, "text": f"{row['text']} {split}"} for row in rows]
        (folder / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in own))
    return folder


def test_each_kind_is_one_line_with_a_count_three_examples_and_what_becomes_of_it(tmp_path):
    rows = [{"text": f"do is so amusing {i}", "label": "AB"[i % 2], "rationale": [[4, 16]]} for i in range(9)]
    report = check(write(tmp_path, rows))
    (problem,) = report.problems
    assert (problem.kind, report.counts[0][2]) == ("span cuts letters off a word", 27)
    assert "27 ×" in problem.seen
    assert problem.seen.count("i[s so amusing]") == 3
    assert "train.jsonl:3" in problem.seen
    assert "widened to whole words (partial_words: widen)" in problem.expected
    dropped = check(tmp_path, ReadOptions(partial_words="drop"))
    assert "it is dropped (partial_words: drop)" in dropped.problems[0].expected


def test_widening_leaves_spans_as_they_were_marked():
    assert spans_in(TEXT, [(4, 16)]) == (Span(4, 16),)


def test_shrinking_keeps_the_whole_words_and_the_group():
    assert spans_in(TEXT, [(4, 16, 2), (18, 24)], partial_words="shrink") == (Span(6, 16, 2), Span(18, 24))
    assert spans_in(TEXT, [(4, 9)], partial_words="shrink") == (Span(6, 8),)


def test_dropping_leaves_the_others():
    assert spans_in(TEXT, [(4, 16), (18, 24)], partial_words="drop") == (Span(18, 24),)


@pytest.mark.parametrize("how", ["shrink", "drop"])
def test_an_example_without_a_span_left_is_not_annotated(how):
    assert spans_in(TEXT, [(10, 12)], partial_words=how) is None
    assert spans_in(TEXT, [], partial_words=how) == ()


def test_how_many_were_cut_is_noted():
    data = load([marked(TEXT, 4, 16)], partial_words="drop")
    assert data.notes == {"gold spans that cut a word (drop)": 1}


def test_what_is_cut_depends_on_what_a_word_is():
    assert spans_in(TEXT, [(6, 16)], partial_words="drop") == (Span(6, 16),)
    assert spans_in(TEXT, [(6, 16)], partial_words="drop", words="whitespace") is None


def test_a_way_that_does_not_exist():
    with pytest.raises(
        ConfigError, match="partial_words: saw 'mend', expected one of 'widen', 'shrink', 'drop'"
    ):
        load([Example("x", "a")], partial_words="mend")
