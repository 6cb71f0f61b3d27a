from __future__ import annotations

import json

import pytest
from annotated import explain, marked, write_rows

from rationalize.data.annotation import ExportOptions, ImportOptions
from rationalize.data.annotation.doccano import FORMAT
from rationalize.errors import DataError
from rationalize.types import Example, Span

UTF16 = ImportOptions(offsets="utf16")


def test_sequence_labeling(tmp_path):
    path = write_rows(
        tmp_path / "all.jsonl",
        {
            "id": 1,
            "text": "EU rejects German call",
            "label": [[0, 2, "why"], [11, 17, "shortcut"]],
            "Comments": [],
        },
        {"id": 2, "text": "Peter Blackburn", "label": [], "Comments": []},
    )
    assert FORMAT.recognize(path)
    assert FORMAT.read(path).examples == (
        Example("1", "EU rejects German call", rationale=(Span(0, 2),), shortcuts=(Span(11, 17),)),
        Example("2", "Peter Blackburn", rationale=(), shortcuts=()),
    )
    assert FORMAT.read(path, ImportOptions(unmarked="unknown")).examples[1] == Example("2", "Peter Blackburn")


def test_spans_and_class(tmp_path):
    path = write_rows(
        tmp_path / "all.jsonl",
        {"id": 1, "text": "exampleA", "entities": [[0, 7, "why"]], "cats": ["positive"]},
        {"id": 2, "text": "exampleB", "cats": ["negative"]},
        {
            "id": 3,
            "text": "exampleC",
            "entities": [{"id": 9, "label": "why", "start_offset": 7, "end_offset": 8}],
        },
    )
    examples = FORMAT.read(path).examples
    assert [(example.label, example.rationale) for example in examples] == [
        ("positive", (Span(0, 7),)),
        ("negative", None),
        (None, (Span(7, 8),)),
    ]


def test_older_fields(tmp_path):
    first = write_rows(tmp_path / "a.jsonl", {"text": "President Obama", "labels": [[10, 15, "PERSON"]]})
    assert marked(FORMAT.read(first).examples[0]) == ["Obama"]
    old = [
        {"label": 2, "start_offset": 0, "end_offset": 9, "user": 1},
        {"label": 2, "start_offset": 10, "end_offset": 15, "user": 2},
    ]
    second = write_rows(tmp_path / "b.jsonl", {"id": 3, "data": "President Obama", "annotations": old})
    result = FORMAT.read(second, ImportOptions(annotators="2"))
    assert (marked(result.examples[0]), result.annotators) == (["Obama"], {"1": 1, "2": 1})


def test_classes_in_the_label_column(tmp_path):
    rows = [{"text": "good", "label": ["pos"]}, {"text": "hm", "label": []}]
    examples = FORMAT.read(write_rows(tmp_path / "a.jsonl", *rows)).examples
    assert [(example.label, example.rationale) for example in examples] == [("pos", None), (None, None)]
    with pytest.raises(DataError, match=r"a.jsonl:1: label: several labels: saw \['a', 'b'\]"):
        FORMAT.read(write_rows(tmp_path / "a.jsonl", {"text": "good", "label": ["a", "b"]}))


@pytest.mark.parametrize(
    ("spans", "pieces"),
    [
        ([(19, 25)], ["trucks"]),  # past the end of the text as Python counts
        ([(5, 12)], ["firemen"]),  # by the borders of words
        ([(11, 16)], ["drive"]),  # by the borders of words: these are code points
        ([(6, 9), (19, 25)], ["ire", "trucks"]),  # by the other span of the file
        ([(6, 9), (3, 10)], ["eme", "firemen"]),  # likewise: 3 would be the middle of an emoji
        ([(6, 9)], ["ire"]),  # by the tool's habit
    ],
)
def test_offsets_without_a_quote(tmp_path, spans, pieces):
    row = {"text": "😀😀 firemen drive trucks", "label": [[*span, "why"] for span in spans]}
    assert marked(FORMAT.read(write_rows(tmp_path / "a.jsonl", row)).examples[0]) == pieces


def test_offsets_that_nothing_settles_are_reported(tmp_path):
    path = write_rows(tmp_path / "a.jsonl", {"text": "😀 abcdef", "label": [[4, 6, "why"]]})
    result = FORMAT.read(path)
    assert marked(result.examples[0]) == ["bc"]
    (problem,) = result.problems
    assert (problem.kind, problem.place, problem.field) == (
        "offsets can be meant in two ways",
        f"{path}:1",
        "label[0]",
    )
    assert marked(FORMAT.read(path, ImportOptions(offsets="code_points")).examples[0]) == ["cd"]
    stated = FORMAT.read(
        write_rows(tmp_path / "b.jsonl", {"text": "a 😀 b", "label": [[0, 1, "x"], [5, 6, "x"]]}), UTF16
    )
    assert (marked(stated.examples[0]), stated.converted, stated.problems) == (["a", "b"], 1, ())


@pytest.mark.parametrize(
    ("span", "kind"),
    [
        ([0, 99, "x"], "offset outside the text"),
        ([2, 4, "x"], "offsets do not fit the text"),  # past the end, or in the middle of a character
        ([-1, 2, "x"], "negative offset"),
        ([3, 2, "x"], "start after end"),
        ([0, "2", "x"], "offset is not an integer"),
        ([True, 2, "x"], "offset is not an integer"),
        ([0, 2], "wrong type"),
        ("x", "wrong type"),
    ],
)
def test_a_bad_span_is_named_with_line_and_field(tmp_path, span, kind):
    path = write_rows(
        tmp_path / "a.jsonl",
        {"text": "ab", "label": [[0, 1, "x"]]},
        {"text": "x😀x", "label": [[0, 1, "x"], span]},
    )
    with pytest.raises(DataError) as caught:
        FORMAT.read(path)
    assert f"{path}:2: label[1]: {kind}: saw" in str(caught.value)
    kept = FORMAT.read(path, ImportOptions(strict=False))
    assert (kept.read, kept.rejected, len(kept.problems)) == (2, 1, 1)


def test_a_folder_with_a_file_for_each_person(tmp_path):
    write_rows(tmp_path / "ann.jsonl", {"id": 1, "text": "so good a film", "label": [[0, 7, "why"]]})
    write_rows(tmp_path / "bob.jsonl", {"id": 1, "text": "so good a film", "label": [[3, 9, "why"]]})
    result = FORMAT.read(tmp_path, ImportOptions(folders="annotators", annotators="intersection"))
    assert marked(result.examples[0]) == ["good"]
    assert result.annotators == {"ann": 1, "bob": 1}
    write_rows(tmp_path / "eve.jsonl", {"id": 1, "text": "another text", "label": []})
    with pytest.raises(DataError, match=r"eve\.jsonl:1: text: texts differ"):
        FORMAT.read(tmp_path, ImportOptions(folders="annotators"))


def test_written_offsets_are_what_the_browser_counts(tmp_path):
    example = Example("7", "😀 good", "pos", rationale=(Span(2, 6),))
    FORMAT.write(tmp_path / "gold.jsonl", [example])
    assert json.loads((tmp_path / "gold.jsonl").read_text(encoding="utf-8")) == {
        "id": "7",
        "text": "😀 good",
        "label": [[3, 7, "rationale"]],
        "offsets": "utf16",
        "cats": ["pos"],
    }
    options = ExportOptions(doccano_project="spans_and_class", offsets="code_points", rationale_name="why")
    FORMAT.write_predictions(tmp_path / "model.jsonl", [explain(example, "neg", [(0, 1)])], options)
    row = json.loads((tmp_path / "model.jsonl").read_text(encoding="utf-8"))
    assert (row["entities"], row["cats"], row["model_version"]) == ([[0, 1, "why"]], ["neg"], "un_rat")
