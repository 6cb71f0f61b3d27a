from __future__ import annotations

import json
import shutil
import tarfile
from datetime import date

import pytest

from rationalize.data.conversion import convert
from rationalize.data.dataset import DataSet, list_labels
from rationalize.data.source import load
from rationalize.errors import DataError
from rationalize.types import Example


def line(**row):
    return json.dumps(row) + "\n"


def eraser(folder):
    (folder / "docs").mkdir(parents=True)
    (folder / "docs" / "d").write_text("one two")
    one = {"docid": "d", "start_token": 0, "end_token": 1}
    row = line(annotation_id="x", classification="A", evidences=[[one]], query="?")
    for split in ("train", "test", "extra"):
        (folder / f"{split}.jsonl").write_text(row)
    (folder / "prompts.jsonl").write_text(line(annotation_id="x", outcome="y"))
    (folder / "README.md").write_text("about")
    return folder


def plain(folder):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "train.jsonl").write_text(line(text="one", label="B") + line(text="two", label="A"))
    (folder / "validation.csv").write_text("text,label\nthree,A\n")
    (folder / "ood.tsv").write_text("text\tlabel\nfour\tA\n")
    (folder / "vocabulary.jsonl").write_text(line(word="one"))
    return folder


def packed(folder, archive, inside):
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(folder, arcname=inside)
    return archive


def sizes(data):
    return {name: len(examples) for name, examples in data.splits.items()}


def test_an_eraser_folder(tmp_path):
    data = load(eraser(tmp_path / "movies"))
    assert (data.name, sizes(data)) == ("movies", {"train": 1, "test": 1, "extra": 1})
    assert data.notes == {"file ignored, not a split: prompts.jsonl": 1}


@pytest.mark.parametrize("inside", ["movies", "data/movies", "."])
def test_archives_hold_the_same_as_their_folder(tmp_path, inside):
    folder = eraser(tmp_path / "movies")
    archive = packed(folder, tmp_path / "movies.tar.gz", inside)
    assert load(archive) == load(folder)
    assert load(shutil.make_archive(str(tmp_path / "zipped" / "movies"), "zip", folder)) == load(folder)


def test_a_folder_of_mixed_tables(tmp_path):
    data = load(plain(tmp_path / "set"))
    assert sizes(data) == {"train": 2, "dev": 1, "ood": 1}
    assert load(packed(tmp_path / "set", tmp_path / "set.tgz", "set")) == data


def test_a_docs_folder_alone_does_not_make_it_eraser(tmp_path):
    (plain(tmp_path) / "docs").mkdir()
    assert sizes(load(tmp_path)) == {"train": 2, "dev": 1, "ood": 1}


def test_one_split_of_many(tmp_path):
    assert sizes(load(plain(tmp_path), "validation")) == {"dev": 1}
    with pytest.raises(DataError, match=r"no split 'test'\. It has train, dev, ood"):
        load(tmp_path, "test")


def test_one_file_is_one_split(tmp_path):
    assert sizes(load(plain(tmp_path) / "validation.csv")) == {"dev": 1}
    (tmp_path / "reviews.jsonl").write_text(line(review="fine", stars=3))
    data = load(tmp_path / "reviews.jsonl", text_field="review", label_field="stars")
    assert data.splits == {"reviews": (Example("reviews-1", "fine", "3"),)}
    assert data.name == "reviews"


def test_one_eraser_file_finds_its_documents(tmp_path):
    (example,) = load(eraser(tmp_path) / "test.jsonl").splits["test"]
    assert example.text == "one two"


def test_two_files_for_one_split(tmp_path):
    (plain(tmp_path) / "dev.jsonl").write_text(line(text="x"))
    with pytest.raises(DataError, match=r"both dev\.jsonl and validation\.csv are the split dev"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing", "no such file or folder"),
        ("empty", "no split files"),
        ("note.txt", "unknown kind of file"),
        ("broken.tar.gz", r"broken\.tar\.gz"),
        ("bare.jsonl", "no rows"),
    ],
)
def test_what_cannot_be_opened(tmp_path, name, message):
    (tmp_path / "empty").mkdir()
    for file in ("note.txt", "broken.tar.gz", "bare.jsonl"):
        (tmp_path / file).write_text("" if file == "bare.jsonl" else "hello")
    with pytest.raises(DataError, match=message):
        load(tmp_path / name)


def test_errors_in_an_archive_name_the_archive(tmp_path):
    folder = eraser(tmp_path / "movies")
    (folder / "test.jsonl").write_text("{}\n")
    archive = packed(folder, tmp_path / "movies.tar.gz", "movies")
    with pytest.raises(DataError) as caught:
        load(archive)
    assert str(caught.value).startswith(f"{archive}/test.jsonl:1: annotation_id: missing field")


def test_labels_are_sorted_and_splits_found_by_any_name(tmp_path):
    data = load(plain(tmp_path))
    assert list_labels(data.splits["train"]) == ("A", "B")
    assert data.split("dev") == data.split("val") == data["valid"] == data.splits["dev"]
    with pytest.raises(DataError, match="no split 'test'"):
        DataSet("x", {"train": ()}).split("test")


def test_other_fields_are_metadata_in_every_format(tmp_path):
    row = {
        "id": "1",
        "text": "so good",
        "label": "P",
        "source": "web",
        "likes": 3,
        "seen": True,
        "tags": ["x"],
    }
    data = load([row, {"id": "2", "text": "so bad", "label": "N", "source": None, "date": date(2026, 1, 2)}])
    assert data["data"][0].metadata == {"source": "web", "likes": 3, "seen": True}
    assert data["data"][1].metadata == {"date": "2026-01-02"}
    for to in ("jsonl", "eraser", "csv"):
        convert({"train": data["data"]}, tmp_path / to, to)
        read = [example.metadata for example in load(tmp_path / to)["train"]]
        written = {"source": "web", "likes": "3", "seen": "true"} if to == "csv" else data["data"][0].metadata
        assert read == [written, {"date": "2026-01-02"}], to
