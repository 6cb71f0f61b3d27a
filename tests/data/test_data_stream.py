"""Streams are what `load` reads, pass after pass, with few examples in memory."""

from __future__ import annotations

import gc
import json
from types import SimpleNamespace

import pytest

from rationalize.data.conversion import convert
from rationalize.data.data_stream import open_data
from rationalize.data.read_options import ReadOptions
from rationalize.data.source import load, read_data
from rationalize.data.stats import measure_data
from rationalize.errors import DataError
from rationalize.types import Example, Span

ROWS = [
    {"id": "a", "text": "a joyful film", "label": "POS", "rationale": [[2, 8]], "year": 1999, "liked": True},
    {"id": "b", "text": "a dull film", "label": None, "query": "is it dull?", "rationale": [[2, 5]]},
    {"id": "c", "text": "so so", "label": "NEG", "rationale": [], "year": 2.5, "note": "é"},
    {"id": "d", "text": "more", "label": "POS", "shortcuts": [[0, 4, 2]], "note": 3},
]


def write(folder, rows=ROWS):
    """Two shards of train, and one of dev with the same texts."""
    for name, part in (("train-1", rows[:2]), ("train-2", rows[2:]), ("dev", rows)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in part))
    return folder / "*.jsonl"


@pytest.mark.parametrize(
    "options",
    [
        ReadOptions(),
        ReadOptions(drop_unlabeled=True),
        ReadOptions(partial_words="shrink"),
        ReadOptions(partial_words="drop", words="whitespace"),
    ],
)
def test_a_stream_is_what_is_loaded_at_every_pass(tmp_path, options):
    loaded = read_data(write(tmp_path), options)
    with open_data(tmp_path / "*.jsonl", options) as stream:
        assert (stream.name, stream.words, stream.notes) == (loaded.name, loaded.words, loaded.notes)
        for _ in range(2):
            assert {split: tuple(each) for split, each in stream.splits.items()} == loaded.splits
        assert {split: len(each) for split, each in stream.splits.items()} == {
            split: len(each) for split, each in loaded.splits.items()
        }
        assert measure_data(stream) == measure_data(loaded)


def test_tokens_in_the_last_row_decide_what_a_word_is(tmp_path):
    rows = [{"text": "it's"}, {"tokens": ["it's", "so"]}]
    (tmp_path / "posts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with open_data(tmp_path / "posts.jsonl", ReadOptions()) as stream:
        assert stream.words == "whitespace"
        assert measure_data(stream) == measure_data(load(tmp_path / "posts.jsonl"))


def test_what_is_wrong_in_the_last_row_is_found_before_anything_is_written(tmp_path):
    pattern = write(tmp_path, [*ROWS, {"id": "a", "text": "again"}])
    with pytest.raises(DataError, match=r"train-2\.jsonl:3: id: duplicate id: saw 'a'|dev\.jsonl:5"):
        convert(pattern, tmp_path / "out", "jsonl")
    assert not list(tmp_path.glob("*out*"))


@pytest.mark.parametrize("to", ["jsonl", "csv", "parquet", "eraser"])
def test_shards_become_whole_splits_of_every_format(tmp_path, to):
    if to == "parquet":
        pytest.importorskip("pyarrow")
    convert(write(tmp_path), tmp_path / "out", to)
    found, expected = load(tmp_path / "out"), load(tmp_path / "*.jsonl")
    assert {split: [each.id for each in examples] for split, examples in found.items()} == {
        split: [each.id for each in examples] for split, examples in expected.items()
    }
    if to == "jsonl":
        assert found.splits == expected.splits
    if to == "parquet":
        assert found["train"][3].shortcuts == (Span(0, 4, 2),)
        assert [dict(each.metadata) for each in found["train"]] == [
            {"year": 1999.0, "liked": True},
            {},
            {"year": 2.5, "note": "é"},
            {"note": "3"},  # a column has one type
        ]
        assert [each.rationale for each in found["train"]] == [each.rationale for each in expected["train"]]


@pytest.fixture
def new_alone():
    """What was there before is out of the garbage collector's sight."""
    gc.freeze()
    yield
    gc.unfreeze()


def count_live():
    gc.collect()
    return sum(type(each) is Example for each in gc.get_objects())


def probe(examples, live):
    for number, example in enumerate(examples):
        if number == 250:
            live.append(count_live())
        yield example


@pytest.mark.usefixtures("new_alone")
@pytest.mark.parametrize("to", ["jsonl", "csv"])
def test_converting_keeps_no_examples(tmp_path, to):
    write(tmp_path, [{"id": str(number), "text": f"text {number}"} for number in range(600)])
    live = list[int]()
    convert(tmp_path / "*.jsonl", tmp_path / "out", to, watch=lambda split, each: probe(each, live))
    assert len(live) == 2
    assert max(live) < 5


@pytest.mark.usefixtures("new_alone")
def test_measuring_keeps_no_examples(tmp_path):
    live = list[int]()
    endless = probe((Example(str(number), f"text {number}") for number in range(600)), live)
    figures = measure_data(
        SimpleNamespace(name="s", words="unicode", splits={"x": endless}, people={}, notes={})
    )
    assert figures.splits["x"].documents == 600
    assert live[0] < 5
