"""The registry, and what all formats share: recognition, broken files, options, agreement."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from annotated import explain, write_array, write_rows
from test_argilla import EXPORT as ARGILLA
from test_hatexplain import POSTS
from test_label_studio import EXPORT as LABEL_STUDIO

from rationalize.data.annotation import FORMATS, ExportOptions, ImportOptions, recognize_format
from rationalize.data.annotation.merge_people import merge_labels, merge_spans
from rationalize.data.annotator_agreement import nominal_alpha
from rationalize.data.findings import Findings
from rationalize.errors import ConfigError, DataError
from rationalize.types import Example, Span

FIRST = {
    "label_studio": LABEL_STUDIO[0],
    "argilla": ARGILLA[0],
    "prodigy": {"text": "a", "spans": [{"start": 0, "end": 1}], "answer": "accept"},
    "hatexplain": POSTS["1_gab"],
    "doccano": {"id": 1, "text": "a", "label": [[0, 1, "x"]]},
    None: {"id": "1", "text": "a", "label": "x", "rationale": [[0, 1]]},
}
OTHERS = [
    {"annotation_id": "a", "evidences": [], "classification": "POS", "query": "?"},
    {"text": "a", "question": "b", "answer": "c"},
    {"text": ["a", "b"], "label": "x", "rationale": [0, 1]},
    {"data": "a"},
    {},
]


@pytest.mark.parametrize("name", FIRST)
def test_a_record_is_of_one_format(name):
    assert [format.name for format in FORMATS.values() if format.recognize(FIRST[name])] == (
        [name] if name else []
    )


@pytest.mark.parametrize("record", OTHERS)
def test_other_records_are_of_none(record):
    assert recognize_format(record) is None


@pytest.mark.parametrize("name", [name for name in FIRST if name])
def test_a_file_is_recognized_by_its_first_record_however_long(name, tmp_path):
    record = FIRST[name] | {"padding": "é" * 200_000}
    for path in (
        write_rows(tmp_path / "rows.jsonl", record, record),
        write_array(tmp_path / "list.json", [record, record]),
        write_array(tmp_path / "by_id.json", {"x": record, "y": record}),
    ):
        assert recognize_format(path) is FORMATS[name]
    pretty = tmp_path / "pretty.json"
    pretty.write_text(json.dumps([record], indent=4))
    assert recognize_format(pretty) is FORMATS[name]


def test_a_lone_record_is_not_taken_for_records_by_id(tmp_path):
    argilla = {"fields": {"text": "a"}, "responses": {}, "suggestions": {}}
    task = {"data": {"text": "a"}, "annotations": [], "padding": "x" * 200_000}
    for record, name in ((argilla, "argilla"), (task, "label_studio")):
        path = write_array(tmp_path / "one.json", record)
        assert recognize_format(path) is FORMATS[name]
        assert [example.text for example in FORMATS[name].read(path).examples] == ["a"]


@pytest.mark.parametrize(
    "content", [b"", b"[", b"[]", b"{", b"{}", b"[1]", b"null", b"\xff\xfe\x00", b'{"a": ', b"[" * 10_000]
)
def test_what_is_no_annotation_file_is_not_recognized(content, tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(content)
    assert recognize_format(path) is None
    assert recognize_format(tmp_path / "missing.json") is None
    assert recognize_format(tmp_path) is None


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "brat"])
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'[{"a": 1},]', "a.json:1: not JSON"),
        (b'["\xff"]', "not UTF-8"),
        (b"[1, 2]", "record 2: not an object"),
        (b"[" * 10_000, "not JSON"),
        (b'[{"text": "a\\ud800"}]', "half a surrogate pair"),
        (b'{"text": 1}\n{oops\n', "a.json:2: not JSON"),
        (b'[{"id": 7}]', "(id 7)"),
    ],
)
def test_a_broken_file_is_told_where(name, content, words, tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        FORMATS[name].read(path)
    assert words in str(caught.value)
    assert FORMATS[name].read(path, ImportOptions(strict=False)).examples == ()


@pytest.mark.parametrize("name", FORMATS)
def test_a_missing_file_is_told(name, tmp_path):
    with pytest.raises(DataError, match="no such"):
        FORMATS[name].read(tmp_path / "nothing")


def test_findings_that_are_given_decide(tmp_path):
    path = write_rows(
        tmp_path / "a.jsonl", {"text": "a", "label": [[0, 9, "x"]]}, {"text": "b", "label": [[0, 1, "x"]]}
    )
    findings = Findings(path, strict=False)
    assert len(FORMATS["doccano"].read(path, findings=findings).examples) == 1
    assert findings.total("error") == 1
    with pytest.raises(DataError, match=r"a.jsonl:1: label\[0\]"):
        FORMATS["doccano"].read(path, ImportOptions(strict=False), Findings(path, strict=True))


def test_an_id_may_occur_once(tmp_path):
    row = {"id": 1, "text": "a", "label": [[0, 1, "x"]]}
    path = write_rows(tmp_path / "a.jsonl", row, row)
    with pytest.raises(
        DataError, match=r"a\.jsonl:2: id: duplicate id: saw '1', expected an id that is not the one of"
    ):
        FORMATS["doccano"].read(path)
    with pytest.raises(DataError, match="'1': this id occurs twice"):
        FORMATS["doccano"].write(tmp_path / "b.jsonl", [Example("1", "a"), Example("1", "b")])


@pytest.mark.parametrize("name", ["doccano", "prodigy"])
def test_explanations_without_an_id_are_numbered(name, tmp_path):
    nameless = [replace(explain(Example("", text)), id=None) for text in ("a", "b")]
    assert FORMATS[name].write_predictions(tmp_path / "p.jsonl", nameless).rows == 2
    rows = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    assert [str(row.get("id") or row["meta"]["id"]) for row in rows] == ["1", "2"]


@pytest.mark.parametrize(
    "make",
    [
        lambda: ImportOptions(offsets="bytes"),
        lambda: ImportOptions(span_labels="why"),
        lambda: ImportOptions(unmarked="maybe"),
        lambda: ExportOptions(rationale_name="shortcut"),
        lambda: ExportOptions(offsets="bytes"),
    ],
)
def test_options_are_checked(make):
    with pytest.raises(ConfigError, match="saw"):
        make()


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("union", ((0, 8), (9, 12))),
        ("majority", ((2, 6),)),
        ("intersection", ((4, 5),)),
    ],
)
def test_merging_spans(rule, expected):
    people = [[Span(0, 5), Span(2, 3)], [Span(4, 8), Span(2, 4)], [Span(4, 6), Span(9, 12)]]
    assert merge_spans(people, rule) == tuple(Span(*pair) for pair in expected)


def test_half_of_the_people_are_a_majority_of_spans_but_not_of_labels():
    assert merge_spans([[Span(0, 5)], [Span(3, 9)]], "majority") == (Span(0, 9),)
    assert merge_spans([[Span(5, 9), Span(0, 1, 1)]], "majority") == (Span(5, 9), Span(0, 1, 1))
    assert merge_labels(["a", "b"]) == (None, True)
    assert merge_labels(["a", "b", "a"]) == ("a", False)
    assert merge_labels([]) == (None, False)


def test_nominal_alpha_of_a_worked_example():
    # Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), section C: nominal data, missing values.
    values = ["111", "2232", "3333", "3333", "2222", "1234", "4444", "1121", "2222", "555", "11", "3"]
    units = [({value: unit.count(value) for value in set(unit)}, 1) for unit in values]
    assert nominal_alpha(units) == pytest.approx(0.743, abs=5e-4)
    assert nominal_alpha([({"a": 2}, 5)]) is None
    assert nominal_alpha([({"a": 1}, 5)]) is None
