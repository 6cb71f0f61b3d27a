"""Data that are in memory already."""

from __future__ import annotations

import numpy as np
import pytest

from imports import list_imported
from rationalize.data.source import load
from rationalize.errors import DataError
from rationalize.types import Document, Example, Span

TEXTS, LABELS = ["so good", "so bad"], ["POS", "NEG"]
PLAIN = (Example("data-0", "so good", "POS"), Example("data-1", "so bad", "NEG"))


@pytest.mark.parametrize(
    "source",
    [
        (TEXTS, LABELS),
        (np.array(TEXTS), np.array(LABELS)),
        [{"text": text, "label": label} for text, label in zip(TEXTS, LABELS)],
        {"text": TEXTS, "label": LABELS},
        list(PLAIN),
    ],
)
def test_lists(source):
    assert load(source).splits == {"data": PLAIN}


def test_texts_alone():
    assert [each.text for each in load(TEXTS)["data"]] == TEXTS


def test_rationales():
    data = load((TEXTS, LABELS, [[(3, 7)], None]))
    assert [each.rationale for each in data["data"]] == [(Span(3, 7),), None]
    assert load((TEXTS, LABELS, ["good", "bad"]))["data"][1].rationale == (Span(3, 6),)


def test_examples_come_through_unchanged():
    examples = (
        Example(
            "a", "one\ntwo", "1", "q", (Span(0, 3), Span(4, 7, 2)), (Document("d", 0, 7),), (Span(4, 7),)
        ),
        Example("b", "three", rationale=()),
    )
    assert load(list(examples), text_field="body")["data"] == examples


def test_a_mapping_of_splits(tmp_path):
    (tmp_path / "more.csv").write_text("text,label\nso so,POS\n")
    data = load({"test": tmp_path / "more.csv", "validation": (TEXTS, LABELS), "train": list(PLAIN)})
    assert list(data) == ["train", "dev", "test"]
    assert data["test"][0].text == "so so"
    assert load({"train": TEXTS, "dev": TEXTS}, "val").splits.keys() == {"dev"}
    with pytest.raises(DataError, match="split dev twice"):
        load({"dev": TEXTS, "val": TEXTS})


def test_a_frame_of_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"body": TEXTS, "stance": [1, None], "nr": [7, 8], "marks": [[(0, 2)], None], "more": [0.1, 0.2]}
    )
    data = load(frame, text_field="body", label_field="stance", id_field="nr", rationale_field="marks")
    assert data["data"] == (
        Example("7", "so good", "1", rationale=(Span(0, 2),), metadata={"more": 0.1}),  # pandas made 1.0
        Example("8", "so bad", metadata={"more": 0.2}),
    )
    assert load((frame["body"], frame["stance"]))["data"][0].label == "1"
    with pytest.raises(DataError, match=r"data\[0\]: text: missing field: saw body, stance"):
        load(frame)
    with pytest.raises(DataError, match="expected a DataFrame"):
        load(frame["body"])


def test_a_dataset_and_its_class_names():
    datasets = pytest.importorskip("datasets")
    features = datasets.Features(
        {"text": datasets.Value("string"), "label": datasets.ClassLabel(names=["NEG", "POS"])}
    )
    dataset = datasets.Dataset.from_dict({"text": TEXTS, "label": [1, 0]}, features=features)
    assert load(dataset).splits == {"data": PLAIN}
    both = load(datasets.DatasetDict({"train": dataset, "validation": dataset}))
    assert {name: len(split) for name, split in both.items()} == {"train": 2, "dev": 2}


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (7, "data: saw int, expected a path, a pandas.DataFrame"),
        ((TEXTS, ["POS"]), "saw 2 of text, 1 of label, expected as many of each"),
        (("a", "b"), "text: saw 'a', expected a list"),
        ([{"text": "a"}, {"body": "b"}], r"data\[1\]: text: missing field: saw body"),
        ([{"text": "a"}, 3], r"data\[1\]: not an object: saw 3"),
        ({"train": [{"text": "a", "rationale": [[0, 9]]}]}, r"train\[0\]: rationale\[0\]: offset outside"),
        ([], "no rows"),
        ({}, "names of splits"),
        ({1: TEXTS}, "names of splits"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_row_and_field(source, message):
    with pytest.raises(DataError, match=message) as caught:
        load(source)
    assert "rationalize data check" not in str(caught.value)


def test_no_library_is_imported_to_read_lists():
    code = "from rationalize.data.source import load; load((['a'], ['b']))"
    assert list_imported(code, "pandas", "datasets", "pyarrow", "numpy", "torch") == []
