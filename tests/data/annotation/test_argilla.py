from __future__ import annotations

import json

import pytest
from annotated import explain, marked, write_array

from rationalize.data.annotation import ImportOptions
from rationalize.data.annotation.argilla import FORMAT, NOBODY
from rationalize.errors import ConfigError
from rationalize.types import Example, Span

ANN, BOB = "a1b2c3d4-0000-4000-8000-000000000001", "a1b2c3d4-0000-4000-8000-000000000002"


def record(number, text, responses, **more):
    parts = {"metadata": {}, "suggestions": {}, "vectors": {}, "status": "pending", "_server_id": None}
    return {"id": str(number), "fields": {"text": text}, "responses": responses, **parts, **more}


def spans(*pairs):
    return [{"start": start, "end": end, "label": "why"} for start, end in pairs]


def given(value, user=ANN, **more):
    return {"value": value, "user_id": user, **more}


EXPORT = [
    record(
        1,
        "so good a film",
        {"why": [given(spans((0, 7))), given(spans((3, 9)), BOB)], "mood": [given("pos"), given("pos", BOB)]},
        suggestions={"why": {"value": spans((10, 14)), "score": 0.4, "agent": "m"}},
    ),
    record(2, "dull", {"why": [given([])], "mood": [given("neg")]}),
    record(3, "unseen", {}),
]
EXPECTED = (
    Example("1", "so good a film", "pos", rationale=(Span(3, 7),)),
    Example("2", "dull", "neg", rationale=()),
    Example("3", "unseen"),
)
OPTIONS = ImportOptions(annotators="intersection")


def test_records_as_the_documentation_shows_them(tmp_path):
    path = write_array(tmp_path / "records.json", EXPORT)
    assert FORMAT.recognize(path)
    result = FORMAT.read(path, OPTIONS)
    assert result.examples == EXPECTED
    assert result.annotators == {ANN: 2, BOB: 1}
    assert result.agreement.label_match == 1.0


def test_flattened_records(tmp_path):
    flat = []
    for each in EXPORT:
        row = {"id": each["id"], "status": "pending", "_server_id": None, **each["fields"]}
        for question, answers in each["responses"].items():
            row[f"{question}.responses"] = [answer["value"] for answer in answers]
            row[f"{question}.responses.users"] = [answer["user_id"] for answer in answers]
            row[f"{question}.responses.status"] = ["submitted"] * len(answers)
        flat.append(row)
    keys = {key for row in flat for key in row}
    flat = [{key: row.get(key) for key in sorted(keys)} for row in flat]
    path = write_array(tmp_path / "flat.json", flat)
    assert FORMAT.recognize(path)
    assert FORMAT.read(path, OPTIONS).examples == EXPECTED
    columns = {key: [row[key] for row in flat] for key in flat[0]}
    assert FORMAT.read(write_array(tmp_path / "columns.json", columns), OPTIONS).examples == EXPECTED


def test_records_by_id_and_answers_by_person(tmp_path):
    path = write_array(tmp_path / "index.json", {each["id"]: each for each in EXPORT})
    assert FORMAT.recognize(path)
    assert FORMAT.read(path, OPTIONS).examples == EXPECTED
    answers = [
        {
            "user_id": ANN,
            "status": "submitted",
            "values": {"why": {"value": spans((0, 2))}, "mood": {"value": "pos"}},
        },
        {"user_id": BOB, "status": "discarded", "values": {"why": {"value": spans((3, 7))}}},
    ]
    result = FORMAT.read(write_array(tmp_path / "old.json", [record(1, "so good", answers)]))
    assert result.examples == (Example("1", "so good", "pos", rationale=(Span(0, 2),)),)
    assert result.notes == {"responses left out, as they are discarded": 1}


def test_one_of_several_questions_must_be_named(tmp_path):
    path = write_array(tmp_path / "r.json", [record(1, "x", {"a": [given("p")], "b": [given("q")]})])
    with pytest.raises(ConfigError, match=r"label_field.*\(a, b\)"):
        FORMAT.read(path)
    assert FORMAT.read(path, ImportOptions(label_field="b")).examples[0].label == "q"


def test_people_mark_in_utf16_units_and_models_in_code_points(tmp_path):
    text = "Some text 🚀 yeah rocket now"
    rows = [
        record(1, text, {"why": [given(spans((18, 24)))]}),
        record(2, text, {"why": [given(spans((17, 23)))]}),
    ]
    result = FORMAT.read(write_array(tmp_path / "r.json", rows))
    assert [marked(example) for example in result.examples] == [["rocket"], ["rocket"]]
    assert result.converted == 1


def test_predictions_are_suggestions(tmp_path):
    example = Example("a", "so good", "neg", query="why?", rationale=(Span(0, 2),))
    FORMAT.write_predictions(tmp_path / "p.json", [explain(example, "pos", [(3, 7)])])
    (row,) = json.loads((tmp_path / "p.json").read_text())
    assert row["fields"] == {"text": "so good", "query": "why?"}
    assert row["responses"] == {}
    assert row["suggestions"] == {
        "rationale": {
            "value": [{"start": 3, "end": 7, "label": "rationale"}],
            "score": None,
            "agent": "un_rat",
        },
        "label": {"value": "pos", "score": 0.75, "agent": "un_rat"},
    }
    FORMAT.write(tmp_path / "g.json", [example])
    (row,) = json.loads((tmp_path / "g.json").read_text())
    assert row["responses"]["label"] == [{"value": "neg", "user_id": NOBODY}]
