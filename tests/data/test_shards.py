"""Shards: patterns, folders and addresses, in the order of their numbers, looked at before the first row."""

from __future__ import annotations

import csv
import json

import pytest

from rationalize.data._open_source import open_source
from rationalize.data._remote_files import PACKAGES
from rationalize.data.example_stream import stream_examples
from rationalize.data.findings import Findings
from rationalize.data.read_options import ReadOptions
from rationalize.data.source import load
from rationalize.data.validate import check
from rationalize.errors import DataError


def write(path, *texts):
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [{"text": text, "label": "A"} for text in texts]
    if path.suffix == ".csv":
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([("text", "label"), *((text, "A") for text in texts)])
    elif path.suffix == ".parquet":
        arrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        parquet.write_table(arrow.Table.from_pylist(rows), path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def texts(source):
    return [example.text for example in stream_examples(source, ReadOptions())]


@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".parquet"])
def test_a_pattern_is_one_split_in_the_order_of_its_numbers(tmp_path, ending):
    for number in (10, 2, 1):
        write(tmp_path / f"posts-{number}{ending}", f"text {number}", "again")
    pattern = tmp_path / f"posts-*{ending}"
    expected = ["text 1", "again", "text 2", "again", "text 10", "again"]
    assert texts(pattern) == texts(str(pattern)) == expected
    data = load(pattern)
    assert (data.name, list(data)) == ("posts", ["posts"])
    assert [example.text for example in data["posts"]] == expected


def test_the_shards_of_a_folder_are_its_splits_and_years_are_not_shards(tmp_path):
    for name in ("train-00000-of-00002", "train-00001-of-00002", "part-000", "part-001"):
        write(tmp_path / f"{name}.jsonl", name)
    for name in ("year-2019", "year-2020", "round-1", "round-2"):
        write(tmp_path / f"{name}.jsonl", name)
    with open_source(tmp_path, Findings(tmp_path, strict=True), ReadOptions()) as source:
        assert source.split_files == {
            "train": ("train-00000-of-00002.jsonl", "train-00001-of-00002.jsonl"),
            "part": ("part-000.jsonl", "part-001.jsonl"),
            **{name: (f"{name}.jsonl",) for name in ("round-1", "round-2", "year-2019", "year-2020")},
        }


def test_a_pattern_keeps_the_usual_splits_apart(tmp_path):
    for name in ("train-0", "train-1", "validation-0", "more"):
        write(tmp_path / "deep" / f"{name}.jsonl", name)
    sizes = {split: len(examples) for split, examples in load(tmp_path / "*" / "*.jsonl").items()}
    assert sizes == {"train": 2, "dev": 1, tmp_path.name: 1}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("posts-3.jsonl", b"\x00\x01 no json\n"),
        ("posts-3.jsonl", b'{"body": "no text"}\n'),
        ("posts-3.csv", b"body,label\na,b\n"),
        ("posts-3.parquet", b"PAR1 broken"),
    ],
)
def test_a_broken_shard_is_named_before_the_first_row(tmp_path, name, content):
    write(tmp_path / "posts-1.jsonl", "fine")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match="posts-3"):
        next(stream_examples(tmp_path / "posts-*", ReadOptions()))


def test_a_broken_shard_of_a_folder_is_not_passed_over(tmp_path):
    write(tmp_path / "posts-001.jsonl", "fine")
    (tmp_path / "posts-002.jsonl").write_text("broken\n")
    with pytest.raises(DataError, match=r"posts-002\.jsonl:1"):
        next(stream_examples(tmp_path, ReadOptions()))


@pytest.mark.parametrize("given", ["", "posts-*"])
@pytest.mark.parametrize("target", ["gone.jsonl", "/gone/elsewhere.jsonl"])
def test_a_shard_that_is_a_link_to_nothing_is_not_passed_over(tmp_path, given, target):
    write(tmp_path / "posts-001.jsonl", "fine")
    (tmp_path / "posts-002.jsonl").symlink_to(target)
    with pytest.raises(DataError, match=r"posts-002\.jsonl: cannot be read: No such file"):
        next(stream_examples(tmp_path / given, ReadOptions()))


@pytest.mark.parametrize(("first", "gone"), [(0, 1), (0, 2), (1, 2)])
def test_a_shard_that_the_others_speak_of_is_missed(tmp_path, first, gone):
    for number in {*range(first, first + 3)} - {gone}:
        write(tmp_path / f"train-0000{number}-of-00003.jsonl", f"text {number}")
    with pytest.raises(DataError, match=rf"train-0000{gone}-of-00003\.jsonl is missing: saw 2 of 3 shards"):
        load(tmp_path)
    assert len(texts(tmp_path / "train-*")) == 2, "a pattern may choose"
    write(tmp_path / f"train-0000{gone}-of-00003.jsonl", "found")
    assert len(texts(tmp_path)) == 3


def test_an_empty_shard_among_others_is_fine(tmp_path):
    write(tmp_path / "posts-1.jsonl", "fine")
    write(tmp_path / "posts-2.jsonl")
    assert texts(tmp_path / "posts-*") == ["fine"]


@pytest.mark.parametrize(("pattern", "message"), [("none-*", "no file matches"), ("*.md", "unknown kind")])
def test_a_pattern_that_finds_nothing_to_read(tmp_path, pattern, message):
    (tmp_path / "notes.md").write_text("hello")
    with pytest.raises(DataError, match=message):
        load(tmp_path / pattern)


def test_the_same_id_in_two_shards_is_found_with_both_places(tmp_path):
    for number in (1, 2):
        (tmp_path / f"posts-{number}.jsonl").write_text('{"id": "x", "text": "a"}\n')
    with pytest.raises(DataError, match=r"posts-2\.jsonl:1: id: duplicate id.*line 1 of .*posts-1"):
        load(tmp_path / "posts-*")
    problems = check(tmp_path / "posts-*").problems
    assert any(problem.kind == "duplicate id" for problem in problems)


def test_a_problem_is_shown_with_the_shard_that_has_it(tmp_path):
    write(tmp_path / "posts-1.jsonl", "one", "two")
    write(tmp_path / "posts-2.jsonl", "three", "one")
    (found,) = [each for each in check(tmp_path / "posts-*").problems if each.kind == "repeated text"]
    assert found.place.endswith("posts-2.jsonl:2")
    assert "posts-1.jsonl:1" in found.seen


@pytest.fixture
def bucket():
    """A store in memory with the address `memory://bucket`."""
    fsspec = pytest.importorskip("fsspec")
    system = fsspec.filesystem("memory")
    yield system
    system.rm("/bucket", recursive=True)


def test_addresses(bucket, tmp_path):
    write(tmp_path / "posts.parquet", "from parquet")
    for number, text in ((1, "one"), (2, "two")):
        bucket.pipe_file(f"/bucket/posts-00{number}.csv", f"text,label\n{text},A\n".encode())
    bucket.pipe_file("/bucket/more/posts.parquet", (tmp_path / "posts.parquet").read_bytes())
    assert texts("memory://bucket/posts-*.csv") == texts("memory://bucket") == ["one", "two"]
    assert texts("memory://bucket/posts-002.csv") == ["two"]
    assert texts("memory://bucket/more/posts.parquet") == ["from parquet"]
    assert load("memory://bucket").name == "bucket"
    with pytest.raises(DataError, match=r"memory://bucket/none.csv: no such file"):
        texts("memory://bucket/none.csv")


def test_a_file_address_is_a_path(tmp_path):
    write(tmp_path / "posts.jsonl", "hello")
    assert texts((tmp_path / "posts.jsonl").as_uri()) == ["hello"]


def test_an_address_whose_package_is_missing_names_it(monkeypatch):
    monkeypatch.setitem(PACKAGES, "s3", ("no_such_package_here", "pip install it"))
    with pytest.raises(DataError, match="s3:// is read with no_such_package_here, which is not installed"):
        texts("s3://bucket/posts.jsonl")
    with pytest.raises(DataError, match=r"ftp:// cannot be read. Expected file://, s3://, gs://, hf://"):
        texts("ftp://host/posts.jsonl")
