"""A check of the data and a run go by the same rules: what is called ready is taken, and nothing else is."""

from __future__ import annotations

import json

import pytest

from helpers import tiny_run
from rationalize.data.readiness import choose_parts, hold_out
from rationalize.data.source import load
from rationalize.data.validate import check
from rationalize.errors import DataError
from rationalize.runs.training_data import read_training_data
from rationalize.types import Example


def rows(n=20, labels="AB", **more):
    return [{"id": f"x{i}", "text": f"text {i}", "label": labels[i % len(labels)], **more} for i in range(n)]


def unlabeled(n=1):
    return [{"id": f"u{i}", "text": f"unlabeled {i}"} for i in range(n)]


DEV = [{"text": "d", "label": "A"}, {"text": "e", "label": "B"}]
TAKEN = {
    "whole": {"train": rows(), "dev": DEV, "test": rows(4)},
    "val": {"train": rows(), "val": DEV},
    "no dev": {"train": rows()},
    "lone": {"posts": rows()},
    "lone, few": {"posts": rows(8)},
    "test without labels": {"train": rows(), "dev": DEV, "test": unlabeled(3)},
    "test with another label": {"train": rows(), "dev": DEV, "test": rows(4, "AC")},
}
REFUSED = {
    "one class": {"train": rows(labels="A"), "dev": DEV},
    "one class, lone": {"posts": rows(labels="A")},
    "unlabeled train": {"train": rows() + unlabeled(), "dev": DEV},
    "unlabeled dev": {"train": rows(), "dev": DEV + unlabeled()},
    "unlabeled, lone": {"posts": rows() + unlabeled(12)},
    "unlabeled all": {"posts": unlabeled(20)},
    "unknown in dev": {"train": rows(), "dev": [{"text": "d", "label": "C"}]},
    "too few to set aside": {"train": rows(2)},
    "only test": {"test": rows()},
    "several unknown": {"one": rows(), "two": rows()},
    "broken row": {"train": [*rows(), {"text": 3}], "dev": DEV},
    "mixed labels": {"train": [*rows(labels="1"), {"text": "z", "label": True}], "dev": DEV},
}


def write(folder, splits):
    for split, content in splits.items():
        (folder / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in content))
    return folder


@pytest.mark.parametrize("splits", TAKEN.values(), ids=TAKEN)
def test_what_is_called_ready_is_taken(tmp_path, splits):
    assert check(write(tmp_path, splits)).trainable
    data = read_training_data(tiny_run(data={"path": str(tmp_path)}))
    assert data.labels == ("A", "B")
    assert data.dev


@pytest.mark.parametrize("splits", REFUSED.values(), ids=REFUSED)
def test_what_is_refused_is_not_called_ready(tmp_path, splits):
    assert not check(write(tmp_path, splits)).trainable
    with pytest.raises(DataError):
        read_training_data(tiny_run(data={"path": str(tmp_path)}))


def test_a_lone_file_is_split_once_and_for_all_and_it_is_said(tmp_path):
    path = tmp_path / "posts.csv"
    path.write_text("text,label\n" + "".join(f"post {i},{'AB'[i % 2]}\n" for i in range(40)))
    data = read_training_data(tiny_run(data={"path": str(path)}))
    assert (len(data.train), len(data.dev)) == (28, 8)
    assert "train 28, dev 8, test 4" in data.notes[0]
    other = read_training_data(tiny_run(data={"path": str(path)}, seed=7))
    assert [each.id for each in other.train] == [each.id for each in data.train]
    test = load(path, "test").split("test")
    assert len(test) == 4
    assert not {each.id for each in test} & {each.id for each in (*data.train, *data.dev)}


def test_fields_and_the_rest_come_from_the_settings(tmp_path):
    content = [
        {"body": f"is amusing {i}", "stance": "AB"[i % 2], "nr": i, "marks": [[1, 10]]} for i in range(20)
    ]
    content.append({"body": "no stance"})
    write(tmp_path, {"train": content})
    names = {"text": "body", "label": "stance", "id": "nr", "rationale": "marks"}
    settings = {"path": str(tmp_path), "fields": names, "drop_unlabeled": True, "partial_words": "shrink"}
    data = read_training_data(tiny_run("sup_rat", data={**settings, "words": "whitespace"}))
    assert data.words == "whitespace"
    assert {each.id for each in (*data.train, *data.dev)} == {str(i) for i in range(20)}
    assert {(span.start, span.end) for each in data.train for span in each.rationale} == {(3, 10)}


def test_a_field_that_no_row_has(tmp_path):
    write(tmp_path, {"train": rows()})
    with pytest.raises(
        DataError, match=r"stance: missing field: saw id, label, text, expected a field with the label"
    ):
        load(tmp_path, label_field="stance")


def test_what_a_word_is_goes_with_the_data(tmp_path):
    write(tmp_path, {"train": rows()})
    assert read_training_data(tiny_run(data={"path": str(tmp_path)})).words == "unicode"
    write(tmp_path, {"train": [{**row, "text": row["text"].split()} for row in rows()]})
    assert read_training_data(tiny_run(data={"path": str(tmp_path)})).words == "whitespace"


def shared(n_texts=50, queries=4):
    return tuple(
        Example(f"{i}-{q}", f"text number {i}", "AB"[(i + q) % 2], f"question {q}")
        for i in range(n_texts)
        for q in range(queries)
    )


def test_what_is_set_aside_shares_no_text_with_train():
    parts = hold_out(shared(), seed=3)
    assert not {each.text for each in parts.train} & {each.text for each in parts.dev}
    assert len(parts.dev) == 40  # a fifth of 200: a tenth would say little


def test_with_two_texts_some_examples_are_set_aside_all_the_same():
    parts = hold_out([Example(str(i), ("fine", "poor")[i % 2], "AB"[i % 2]) for i in range(20)], seed=0)
    assert (len(parts.train), len(parts.dev)) == (16, 4)
    assert "4 of 4 dev texts are also in train" in parts.notes[1]


@pytest.mark.parametrize(("n", "dev"), [(20, 4), (1000, 200), (2000, 300), (5000, 500)])
def test_as_much_is_set_aside_as_says_something(n, dev):
    train = tuple(Example(str(i), f"text {i}", "AB"[i % 2]) for i in range(n))
    assert len(hold_out(train, seed=0).dev) == dev


def test_dev_texts_that_are_in_train_are_noted():
    train = tuple(Example(str(i), f"text {i}", "AB"[i % 2]) for i in range(10))
    dev = (Example("new", "something new", "A"), Example("old", "@someone TEXT 3!", "B"))
    parts = choose_parts({"train": train, "dev": dev}, "posts")
    assert parts.notes == (
        "1 of 2 dev texts are also in train, so dev scores are better than those on new texts",
    )
    assert choose_parts({"train": train, "dev": dev[:1]}, "posts").notes == ()
