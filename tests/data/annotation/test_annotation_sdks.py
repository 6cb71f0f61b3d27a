"""The tools' own libraries take what is written, where they are installed; none of them is needed to write it."""

from __future__ import annotations

import json

import pytest
from annotated import explain

from rationalize.data.annotation import FORMATS, ImportOptions
from rationalize.data.annotation.label_studio import labeling_config
from rationalize.types import Example, Span

pytestmark = pytest.mark.slow

EXAMPLES = [
    Example(
        "a", "😀 so good\r\na film", "pos", query="why?", rationale=(Span(2, 9),), shortcuts=(Span(0, 1),)
    ),
    Example("b", "日本語 שלום", "neg", rationale=()),
    Example("c", "nobody saw it", "neg"),
]
EXPLAINED = [explain(example, "pos", [(0, 3)]) for example in EXAMPLES]


def library(name):
    return pytest.importorskip(name, reason=f"{name} is not installed here")


def rows_of(path):
    return json.loads(path.read_text(encoding="utf-8"))


def test_label_studio_takes_annotations_and_predictions(tmp_path):
    interface = library("label_studio_sdk.label_interface").LabelInterface(
        labeling_config(["pos", "neg"], query=True)
    )
    FORMATS["label_studio"].write(tmp_path / "gold.json", EXAMPLES)
    FORMATS["label_studio"].write_predictions(tmp_path / "model.json", EXPLAINED)
    annotations = [each for row in rows_of(tmp_path / "gold.json") for each in row["annotations"]]
    predictions = [each for row in rows_of(tmp_path / "model.json") for each in row["predictions"]]
    assert (len(annotations), len(predictions)) == (2, 3)
    assert [interface.validate_annotation(each) for each in annotations] == [True, True]
    assert [interface.validate_prediction(each, return_errors=True) for each in predictions] == [[], [], []]


def test_label_studios_own_flat_export_of_what_is_written_reads_the_same(tmp_path):
    converter = library("label_studio_sdk.converter").Converter(
        labeling_config(["pos", "neg"]), str(tmp_path)
    )
    gold = [example for example in EXAMPLES if example.rationale is not None]
    FORMATS["label_studio"].write(tmp_path / "gold.json", gold)
    tasks = [
        row
        | {"id": number, "annotations": [each | {"id": 1, "completed_by": 4} for each in row["annotations"]]}
        for number, row in enumerate(rows_of(tmp_path / "gold.json"))
    ]
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))
    converter.convert_to_json_min(str(tmp_path / "tasks.json"), str(tmp_path / "out"), is_dir=False)
    whole = FORMATS["label_studio"].read(tmp_path / "gold.json").examples
    assert FORMATS["label_studio"].read(tmp_path / "out" / "result.json").examples == whole


def test_argilla_takes_records_and_gives_them_back(tmp_path):
    library("argilla")
    from argilla.records._io import GenericIO, JsonIO

    FORMATS["argilla"].write(tmp_path / "gold.json", EXAMPLES)
    FORMATS["argilla"].write_predictions(tmp_path / "model.json", EXPLAINED)
    records = JsonIO._records_from_json(tmp_path / "gold.json")
    assert [len(record.responses) for record in records] == [2, 2, 0]
    suggested = JsonIO._records_from_json(tmp_path / "model.json")
    assert [[each.agent for each in record.suggestions] for record in suggested] == [["un_rat"] * 2] * 3
    assert [record.api_model().external_id for record in suggested] == ["a", "b", "c"]
    before = FORMATS["argilla"].read(tmp_path / "gold.json").examples
    JsonIO.to_json(records, tmp_path / "again.json")
    assert FORMATS["argilla"].read(tmp_path / "again.json").examples == before
    for orient in ("names", "index"):
        path = tmp_path / f"{orient}.json"
        path.write_text(json.dumps(GenericIO.to_dict(records, flatten=orient == "names", orient=orient)))
        assert FORMATS["argilla"].read(path, ImportOptions(label_field="label")).examples == before
