"""JSON arrays and Parquet."""

from __future__ import annotations

import json
import sys

import pytest

from rationalize.data.conversion import convert
from rationalize.data.source import load
from rationalize.data.validate import check
from rationalize.errors import DataError
from rationalize.types import Example, Span

ROWS = [{"text": "so good", "label": 1, "rationale": [[3, 7]], "id": "x"}, {"text": "bad", "label": 0}]
EXAMPLES = (Example("x", "so good", "1", rationale=(Span(3, 7),)), Example("train-1", "bad", "0"))


@pytest.mark.parametrize("value", [ROWS, {"data": ROWS, "version": 2}])
def test_a_json_array(tmp_path, value):
    (tmp_path / "train.json").write_text(json.dumps(value))
    data = load(tmp_path)
    assert data.splits == {"train": EXAMPLES}
    assert data.notes == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r"train\.json: not JSON"),
        ('{"rows": []}', r"train\.json: not an array"),
        ('[{"text": "a"}, 3]', r"train\.json\[1\]: not an object: saw 3"),
        ('[{"text": "a"}, {"text": ""}]', r"train\.json\[1\]: text: empty text"),
        ('[{"text": "a\\ud800"}]', r"train\.json\[0\]: text: half a surrogate pair"),
        ('[{"text": "a", "id": 1}, {"text": "b", "id": 1}]', r"train\.json\[1\]: id: duplicate id.*item 0"),
        ("[]", "no rows"),
    ],
)
def test_broken_arrays(tmp_path, text, message):
    (tmp_path / "train.json").write_text(text)
    with pytest.raises(DataError, match=message):
        load(tmp_path / "train.json")
    assert not check(tmp_path / "train.json").ok


def test_our_own_json_files_are_no_splits(tmp_path):
    (tmp_path / "train.jsonl").write_text(json.dumps(ROWS[0]) + "\n")
    convert(tmp_path / "train.jsonl", tmp_path / "out", "jsonl")
    assert (tmp_path / "out" / "MANIFEST.json").exists()
    assert load(tmp_path / "out").notes == {}


def test_parquet(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(arrow.Table.from_pylist(ROWS), tmp_path / "train.parquet")
    assert load(tmp_path / "train.parquet").splits == {"train": EXAMPLES}
    assert check(tmp_path).format == "parquet"
    (tmp_path / "train.parquet").write_text("no")
    with pytest.raises(DataError, match=r"train\.parquet: not a Parquet file"):
        load(tmp_path)


def test_a_damaged_parquet_file_is_named(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "train.parquet"
    parquet.write_table(arrow.table({"text": ["a story " * 20] * 20, "label": ["POS"] * 20}), path)
    data = bytearray(path.read_bytes())
    data[20:60] = b"\xff" * 40  # in the first page; the footer is intact
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"train\.parquet: .*damaged: "):
        load(path)
    wrong = arrow.array([b"\xff\xfe"], arrow.binary()).cast(arrow.string(), safe=False)
    parquet.write_table(arrow.table({"text": wrong, "label": ["POS"]}), path)
    with pytest.raises(DataError, match=r"train\.parquet: .*damaged: .*utf-8"):
        load(path)
    parquet.write_table(arrow.table({"texxt": ["a"], "label": ["POS"]}), path, store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"texxt", b"te\xd5xt"))
    with pytest.raises(DataError, match=r"train\.parquet: .*damaged: .*utf-8"):
        load(path)


def test_class_names_that_datasets_keeps_in_a_parquet_file(tmp_path):
    datasets = pytest.importorskip("datasets")
    kinds = datasets.ClassLabel(names=["NEG", "POS"])
    features = datasets.Features({"text": datasets.Value("string"), "label": kinds, "asked": kinds})
    columns = {"text": ["bad", "good", "unsure"], "label": [0, 1, -1], "asked": [1, 1, 0]}
    dataset = datasets.Dataset.from_dict(columns, features=features)
    dataset.to_parquet(str(tmp_path / "train.parquet"))
    found = load(tmp_path)["train"]
    assert [(each.label, each.metadata["asked"]) for each in found] == [
        ("NEG", "POS"),
        ("POS", "POS"),
        (None, "NEG"),
    ]
    assert [(each.label, each.metadata) for each in load(dataset)["data"]] == [
        (each.label, each.metadata) for each in found
    ]


@pytest.mark.parametrize(
    "written", [b"{", b"[]", b'{"info": {"features": {"label": {"_type": "ClassLabel"}}}}']
)
def test_other_words_under_the_key_of_datasets_change_nothing(tmp_path, written):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = arrow.table({"text": ["bad"], "label": [0]}).replace_schema_metadata({b"huggingface": written})
    parquet.write_table(table, tmp_path / "train.parquet")
    assert load(tmp_path)["train"][0].label == "0"


def test_parquet_without_its_library(tmp_path, monkeypatch):
    (tmp_path / "train.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DataError, match=r"rationalize\[parquet\]"):
        load(tmp_path / "train.parquet")
