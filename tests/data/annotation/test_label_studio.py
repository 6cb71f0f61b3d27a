from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest
from annotated import explain, marked, write_array

from rationalize.data.annotation import FORMATS, ExportOptions, ImportOptions
from rationalize.data.annotation.label_studio import FORMAT, labeling_config
from rationalize.errors import ConfigError, DataError
from rationalize.types import Example, Span


def region(start, end, text, *labels):
    value = {"start": start, "end": end, "text": text, "labels": list(labels)}
    return {
        "id": "x",
        "from_name": "evidence",
        "to_name": "text",
        "type": "labels",
        "value": value,
        "origin": "manual",
    }


def choice(name, source="sentiment"):
    value = {"choices": [name]}
    return {"id": "y", "from_name": source, "to_name": "text", "type": "choices", "value": value}


def annotation(person, *result, **more):
    return {
        "id": 1001,
        "completed_by": person,
        "was_cancelled": False,
        "ground_truth": False,
        "result": list(result),
    } | more


def task(number, text, *annotations, **data):
    times = {"created_at": "2021-03-09T21:52:49Z", "project": 83}
    return {
        "id": number,
        **times,
        "data": {"text": text, **data},
        "annotations": list(annotations),
        "predictions": [],
    }


EXPORT = [
    task(
        1,
        "A very good film.",
        annotation(10, region(2, 11, "very good", "why"), choice("Positive")),
        annotation({"id": 11, "email": "b@c.org"}, region(7, 11, "good", "why"), choice("Positive")),
        annotation(12, region(0, 1, "A", "why"), choice("Negative"), was_cancelled=True),
    ),
    task(2, "Dull.", annotation(10, region(0, 4, "Dull", "why", "shortcut"), choice("Negative"))),
    task(3, "Nobody saw it."),
]


def test_an_export_as_the_documentation_shows_it(tmp_path):
    path = write_array(tmp_path / "project.json", EXPORT)
    assert FORMAT.recognize(path)
    result = FORMAT.read(path, ImportOptions(annotators="intersection"))
    assert result.examples == (
        Example("1", "A very good film.", "Positive", rationale=(Span(7, 11),), shortcuts=()),
        Example("2", "Dull.", "Negative", rationale=(Span(0, 4),), shortcuts=(Span(0, 4),)),
        Example("3", "Nobody saw it."),
    )
    assert result.annotators == {"10": 2, "b@c.org": 1}
    assert result.notes == {"annotations left out, as they were cancelled": 1, "texts that nobody marked": 1}
    assert (result.agreement.marked_texts, result.agreement.label_match) == (1, 1.0)


@pytest.mark.parametrize(
    ("rule", "pieces"), [("union", ["very good"]), ("b@c.org", ["good"]), ("10", ["very good"])]
)
def test_whom_to_follow(tmp_path, rule, pieces):
    path = write_array(tmp_path / "project.json", EXPORT[:1])
    assert marked(FORMAT.read(path, ImportOptions(annotators=rule)).examples[0]) == pieces


def test_an_unknown_annotator_is_refused_with_the_known_ones(tmp_path):
    path = write_array(tmp_path / "project.json", EXPORT)
    with pytest.raises(ConfigError, match=r"annotators: saw 'eve'.*'10', 'b@c.org'"):
        FORMAT.read(path, ImportOptions(annotators="eve"))


def test_a_tie_between_labels_gives_none_and_is_reported(tmp_path):
    both = annotation(1, choice("Positive")), annotation(2, choice("Negative"))
    path = write_array(tmp_path / "p.json", [task(7, "Well.", *both, label="Positive")])
    result = FORMAT.read(path)
    assert result.examples[0].label is None
    assert [(problem.kind, problem.place) for problem in result.problems] == [
        ("tie between labels", f"{path}: record 1 (id 7)")
    ]


def test_utf16_offsets_are_found_by_the_text_beside_them(tmp_path):
    old = task(1, "💩This is an annotation.", annotation(1, region(13, 23, "annotation", "why")))
    new = task(2, "💩This is an annotation.", annotation(1, region(12, 22, "annotation", "why")))
    result = FORMAT.read(write_array(tmp_path / "p.json", [old, new]))
    assert [marked(example) for example in result.examples] == [["annotation"], ["annotation"]]
    assert (result.converted, result.notes["spans counted in UTF-16 units, now in code points"]) == (1, 1)


def test_line_breaks_in_the_quote_may_be_written_otherwise(tmp_path):
    path = write_array(
        tmp_path / "p.json", [task(1, "one\ntwo three", annotation(1, region(0, 7, "one\\ntwo", "why")))]
    )
    assert marked(FORMAT.read(path).examples[0]) == ["one\ntwo"]


def test_spans_that_fit_nowhere_are_all_listed_with_task_and_field(tmp_path):
    wrong = [
        task(5, "good film", annotation(1, region(0, 4, "film", "why"))),
        task(6, "good film", annotation(1, region(0, 99, "good", "why"))),
        task(7, "good film", annotation(1, region(0, 4, "good", "why"))),
    ]
    path = write_array(tmp_path / "p.json", wrong)
    with pytest.raises(DataError) as caught:
        FORMAT.read(path)
    lines = str(caught.value).splitlines()
    assert lines[0] == f"{path}: 2 problems."
    assert (
        f"{path}: record 1 (id 5): annotations[0].result[0].value: offsets do not fit the text: saw 0, 4"
        in str(caught.value)
    )
    assert "record 2 (id 6)" in str(caught.value)
    assert "expected 0 to 9 characters" in str(caught.value)
    kept = FORMAT.read(path, ImportOptions(strict=False))
    assert ([example.id for example in kept.examples], kept.rejected) == (["7"], 2)
    assert len(kept.problems) == 2


def test_one_of_several_choices_must_be_named(tmp_path):
    path = write_array(tmp_path / "p.json", [task(1, "Hm.", annotation(1, choice("a"), choice("b", "tone")))])
    with pytest.raises(ConfigError, match=r"label_field.*sentiment, tone"):
        FORMAT.read(path)
    assert FORMAT.read(path, ImportOptions(label_field="tone")).examples[0].label == "b"


def test_names_of_spans_choose_their_role(tmp_path):
    found = annotation(1, region(0, 1, "a", "pro"), region(2, 3, "b", "con"), region(4, 5, "c", "cue"))
    path = write_array(tmp_path / "p.json", [task(1, "a b c", found)])
    result = FORMAT.read(path, ImportOptions(span_labels=("pro", "prö"), shortcut_labels=("cue",)))
    assert result.examples[0] == Example("1", "a b c", rationale=(Span(0, 1),), shortcuts=(Span(4, 5),))
    assert result.span_names == {"pro": 1, "con": 1, "cue": 1}
    assert [(problem.kind, problem.seen) for problem in result.problems] == [
        ("no span has this name", "'prö'")
    ]


def test_classes_alone_say_nothing_about_rationales(tmp_path):
    path = write_array(tmp_path / "p.json", [task(1, "Fine.", annotation(1, choice("pos")))])
    assert FORMAT.read(path).examples == (Example("1", "Fine.", "pos", rationale=None),)


def test_the_flat_export_has_one_record_for_each_annotation(tmp_path):
    span = {"start": 8, "end": 12, "text": "good", "labels": ["why"]}
    ending = {"annotation_id": 1, "created_at": "c", "updated_at": "u", "lead_time": 4.2}
    records = [
        {
            "text": "😀 very good",
            "id": 4,
            "evidence": [span | {"start": 7, "end": 11}],
            "mood": "pos",
            "annotator": 1,
            **ending,
        },
        {
            "text": "😀 very good",
            "id": 4,
            "evidence": [span],
            "mood": {"choices": ["pos"]},
            "annotator": 2,
            **ending,
        },
        {"text": "bad", "id": 5, "evidence": [], "mood": "neg", "annotator": 1, **ending},
    ]
    path = write_array(tmp_path / "min.json", records)
    assert FORMAT.recognize(path)
    result = FORMAT.read(path)
    assert result.examples == (
        Example("4", "😀 very good", "pos", rationale=(Span(7, 11),)),
        Example("5", "bad", "neg", rationale=()),
    )
    assert (result.annotators, result.converted) == ({"1": 2, "2": 1}, 1)


def test_predictions_carry_score_and_model_and_are_no_gold(tmp_path):
    example = Example("a", "😀 good", "neg", query="why?", rationale=(Span(0, 1),))
    path = tmp_path / "p.json"
    FORMAT.write_predictions(path, [explain(example, "pos", [(2, 6)])], ExportOptions(model_version="m-1"))
    (row,) = json.loads(path.read_text(encoding="utf-8"))
    (prediction,) = row["predictions"]
    assert row["data"] == {"text": "😀 good", "example_id": "a", "query": "why?"}
    assert (prediction["score"], prediction["model_version"]) == (0.75, "m-1")
    assert [result["value"] for result in prediction["result"]] == [
        {"start": 2, "end": 6, "text": "good", "labels": ["rationale"]},
        {"choices": ["pos"]},
    ]
    assert FORMAT.read(path).examples == (Example("a", "😀 good", query="why?"),)


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "p.json"
    path.write_text("mine")
    for broken, words in (
        (Example("x", "a\ud800"), "half a surrogate pair"),
        (Example("x", "ab", rationale=(Span(1, 3),)), r"rationale\[0\]: saw 1, 3"),
    ):
        with pytest.raises(DataError, match=f"example 'x': .*{words}|example 'x': {words}"):
            FORMAT.write(path, [Example("1", "fine"), broken])
    assert (path.read_text(), [each.name for each in tmp_path.iterdir()]) == ("mine", ["p.json"])


def test_what_cannot_be_kept_is_counted(tmp_path):
    grouped = Example("1", "a b", rationale=(Span(0, 1, 2),), shortcuts=(Span(2, 3),))
    unmarked = Example("2", "a b", shortcuts=(Span(2, 3),))
    assert FORMAT.write(tmp_path / "p.json", [grouped, unmarked]).changes == {
        "evidence groups not kept apart": 1,
        "shortcuts left out, as nobody marked a rationale": 1,
    }


def test_the_labeling_interface_has_every_control():
    tree = ElementTree.fromstring(labeling_config(['a & "b"', "c"], query=True))
    assert [choice.get("value") for choice in tree.iter("Choice")] == ['a & "b"', "c"]
    assert [label.get("value") for label in tree.iter("Label")] == ["rationale", "shortcut"]


@pytest.mark.parametrize("text", ["[1]", "[[1]]", '["annotation_id"]', "7"])
def test_records_that_are_no_objects_are_refused(tmp_path, text):
    path = tmp_path / "label_studio.json"
    path.write_text(text)
    with pytest.raises(DataError, match=r"label_studio\.json"):
        FORMATS["label_studio"].read(path)
