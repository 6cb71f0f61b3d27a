from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from data_strategies import eraser_example, many
from hypothesis import given

from rationalize.data.conversion import convert, split_data
from rationalize.data.jsonl import write_jsonl
from rationalize.data.source import load
from rationalize.errors import ConfigError, DataError
from rationalize.files import manifest_problems
from rationalize.types import Example
from searches import search


@search(25)
@given(many(eraser_example), many(eraser_example))
def test_there_and_back_again(train, test):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "a").mkdir()
        write_jsonl(folder / "a" / "train.jsonl", train)
        write_jsonl(folder / "a" / "test.jsonl", [_renamed(example) for example in test])
        there = convert(folder / "a", folder / "b", "eraser")
        back = convert(folder / "b", folder / "c", "jsonl")
        assert there.rows == back.rows == {"train": len(train), "test": len(test)}
        assert load(folder / "c").splits == load(folder / "a").splits
        assert not [change for change in there.changes if change.startswith("spans")]
        assert manifest_problems(folder / "b") == manifest_problems(folder / "c") == []


def _renamed(example):
    from dataclasses import replace

    documents = tuple(replace(document, id=f"test-{document.id}") for document in example.documents)
    return replace(example, documents=documents)


def source(folder):
    write_jsonl(folder / "train.jsonl", [Example("x", "one", "A")])
    return folder / "train.jsonl"


def test_nothing_is_overwritten_unasked(tmp_path):
    convert(source(tmp_path), tmp_path / "out", "jsonl")
    with pytest.raises(ConfigError, match="replace it"):
        convert(source(tmp_path), tmp_path / "out", "eraser")
    convert(source(tmp_path), tmp_path / "out", "eraser", force=True)
    assert (tmp_path / "out" / "docs" / "train.x").read_text() == "one"


def test_what_others_wrote_is_never_replaced(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter.txt").write_text("dear")
    with pytest.raises(ConfigError, match="not written by rationalize"):
        convert(source(tmp_path), tmp_path / "home", "jsonl", force=True)
    assert (tmp_path / "home" / "letter.txt").read_text() == "dear"


def test_what_a_word_is_survives(tmp_path):
    convert(source(tmp_path), tmp_path / "eraser", "eraser")
    convert(tmp_path / "eraser", tmp_path / "jsonl", "jsonl")
    convert(tmp_path / "jsonl", tmp_path / "csv", "csv")
    assert [load(tmp_path / name).words for name in ("eraser", "jsonl", "csv")] == ["whitespace"] * 3
    assert load(tmp_path / "train.jsonl").words == "unicode"
    (tmp_path / "csv" / "DATASET.json").write_text('{"words": "many"}')
    with pytest.raises(
        DataError, match=r"DATASET\.json: words: saw 'many', expected one of unicode, whitespace"
    ):
        load(tmp_path / "csv")


def test_dev_is_called_val_in_eraser_and_dev_elsewhere(tmp_path):
    examples = {"train": [Example("x", "one", "A")], "validation": [Example("y", "two", "B", rationale=None)]}
    convert(examples, tmp_path / "eraser", "eraser")
    convert(tmp_path / "eraser", tmp_path / "jsonl", "jsonl")
    files = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")}
    assert {
        "eraser/val.jsonl",
        "eraser/docs/val.y",
        "eraser/unannotated/val.jsonl",
        "jsonl/dev.jsonl",
    } <= files
    assert load(tmp_path / "eraser").splits == load(tmp_path / "jsonl").splits
    assert load(tmp_path / "jsonl")["dev"] == (Example("y", "two", "B"),)


def test_splitting_keeps_words_and_refuses_what_is_split(tmp_path):
    rows = [{"tokens": ["text", str(i)], "label": "AB"[i % 2]} for i in range(20)]
    done = split_data(rows, tmp_path / "out", dev=0.2, test=0, seed=3)
    assert done.rows == {"train": 16, "dev": 4}
    assert load(tmp_path / "out").words == "whitespace"
    with pytest.raises(DataError, match="saw the splits train, dev, expected a data set that has one only"):
        split_data(tmp_path / "out", tmp_path / "more")


def test_a_failure_leaves_nothing_behind(tmp_path):
    (tmp_path / "bad.jsonl").write_text('{"text": "a"}\n{"text": 1}\n')
    with pytest.raises(DataError, match=r"bad\.jsonl:2"):
        convert(tmp_path / "bad.jsonl", tmp_path / "out", "jsonl")
    assert [path.name for path in tmp_path.iterdir()] == ["bad.jsonl"]


def test_a_folder_in_a_store_is_that_of_this_machine_and_read_from_there(tmp_path):
    fsspec = pytest.importorskip("fsspec")
    system = fsspec.filesystem("memory")
    system.store.clear()
    out = "memory://bucket/posts"
    (tmp_path / "in.csv").write_text("text,label\ngood film,POS\nbad film,NEG\n", encoding="utf-8")
    assert convert(tmp_path / "in.csv", out, "jsonl").out == out
    convert(tmp_path / "in.csv", tmp_path / "here", "jsonl")
    assert [each.text for each in load(out)["in"]] == ["good film", "bad film"]
    names = {path.name for path in (tmp_path / "here").iterdir()}
    assert {path.rpartition("/")[2] for path in system.find("/bucket/posts")} == names
    with pytest.raises(ConfigError, match="memory://bucket/posts: exists"):
        convert(tmp_path / "in.csv", out, "jsonl")
    convert(tmp_path / "in.csv", out, "csv", force=True)
    assert {path.rpartition("/")[2] for path in system.find("/bucket/posts")} == {"in.csv", "MANIFEST.json"}
    system.pipe_file("/bucket/other/file", b"")
    with pytest.raises(ConfigError, match="was not written by rationalize"):
        convert(tmp_path / "in.csv", "memory://bucket/other", "jsonl", force=True)
    system.store.clear()
