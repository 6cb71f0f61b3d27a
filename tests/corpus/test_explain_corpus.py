"""Explaining into files and folders: order, one row for each, resuming, little in memory."""

from __future__ import annotations

import csv
import json
from itertools import islice
from pathlib import Path

import pytest

from helpers import tiny_corpus, tiny_model
from rationalize.corpus.corpus_settings import CorpusSettings
from rationalize.corpus.explain_corpus import explain_all
from rationalize.errors import ConfigError, DataError

EXAMPLES = tiny_corpus(30)


def settings(**given):
    return CorpusSettings(chunk_rows=7, **given)


def ids(path):
    return [json.loads(line)["id"] for line in path.read_text(encoding="utf-8").splitlines()]


def break_off(examples, after):
    yield from islice(examples, after)
    raise KeyboardInterrupt


def test_a_file_and_a_folder_have_the_same_rows_in_the_order_of_the_input(model, tmp_path):
    seen = []
    done = explain_all(model, EXAMPLES, tmp_path / "out.jsonl", settings(), seen.append)
    assert (done.rows, done.parts, done.found) == (30, 5, 0)
    assert seen == [7, 14, 21, 28, 30]
    explain_all(model, EXAMPLES, tmp_path / "out", settings())
    parts = sorted((tmp_path / "out").glob("part-*.jsonl"))
    assert [part.name for part in parts] == [f"part-0000{number}.jsonl" for number in range(1, 6)]
    assert b"".join(part.read_bytes() for part in parts) == (tmp_path / "out.jsonl").read_bytes()
    assert ids(tmp_path / "out.jsonl") == [example.id for example in EXAMPLES]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "out.jsonl"]


def test_formats(model, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    for name in ("out.jsonl", "out.csv", "out.parquet"):
        explain_all(model, EXAMPLES, tmp_path / name, settings())
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert parquet.read_table(tmp_path / "out.parquet").to_pylist() == rows
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert [(row["id"], row["label"], row["text"]) for row in table] == [
        (row["id"], row["label"], row["text"]) for row in rows
    ]
    explain_all(model, EXAMPLES, tmp_path / "parts", settings(format="parquet"))
    assert parquet.read_table(tmp_path / "parts").num_rows == 30


@pytest.mark.parametrize(
    ("name", "to"),
    [
        ("out.jsonl", None),
        ("out.csv", None),
        ("out.parquet", None),
        ("out", None),
        ("out.json", "label_studio"),
        ("out", "brat"),
    ],
)
def test_what_is_finished_is_not_done_again(model, tmp_path, name, to):
    whole, out = tmp_path / "whole" / name, tmp_path / name
    explain_all(model, EXAMPLES, whole, settings(to=to))
    with pytest.raises(KeyboardInterrupt):
        explain_all(model, break_off(EXAMPLES, 20), out, settings(to=to))
    assert not out.exists()
    with pytest.raises(ConfigError, match=r"interrupted\. Resume it"):
        explain_all(model, EXAMPLES, out, settings(to=to))
    done = explain_all(model, EXAMPLES, out, settings(to=to, resume=True))
    assert (done.rows, done.parts, done.found) == (30, 5, 2)
    for path in filter(Path.is_file, [out, *out.rglob("*")]):
        assert path.read_bytes() == (whole / path.relative_to(out)).read_bytes()
    assert not (tmp_path / f"{name}.unfinished").exists()
    assert explain_all(model, EXAMPLES, out, settings(to=to, resume=True)).parts == 0


def test_a_line_that_was_cut_from_the_journal_is_a_part_to_do_again(model, tmp_path):
    out = tmp_path / "out.jsonl"
    with pytest.raises(KeyboardInterrupt):
        explain_all(model, break_off(EXAMPLES, 22), out, settings())
    journal = tmp_path / "out.jsonl.unfinished" / "journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:-10])
    (tmp_path / "out.jsonl.unfinished" / "parts" / "part-00001.jsonl").unlink()
    assert explain_all(model, EXAMPLES, out, settings(resume=True)).found == 1
    assert ids(out) == [example.id for example in EXAMPLES]


def test_another_input_or_another_model_is_not_mixed_in(model, tmp_path):
    out = tmp_path / "out.jsonl"
    with pytest.raises(KeyboardInterrupt):
        explain_all(model, break_off(EXAMPLES, 20), out, settings())
    with pytest.raises(DataError, match=r"part 1 \(rows 1 to 7.*not what it was"):
        explain_all(model, EXAMPLES[1:], out, settings(resume=True))
    with pytest.raises(ConfigError, match="truncate: False then, True now"):
        explain_all(model, EXAMPLES, out, settings(resume=True, truncate=True))
    with pytest.raises(ConfigError, match="precision: 'fp32' then, 'bf16' now"):
        explain_all(model, EXAMPLES, out, settings(resume=True, precision="bf16"))
    other = tiny_model("un_rat")
    other.method.net.requires_grad_(False)
    next(other.method.parameters()).add_(1.0)
    with pytest.raises(ConfigError, match="model: "):
        explain_all(other, EXAMPLES, out, settings(resume=True))
    assert explain_all(model, EXAMPLES, out, settings(resume=True)).found == 2


def test_little_is_read_ahead(model, tmp_path):
    read = finished = 0
    most = 0

    def probe():
        nonlocal read, most
        for example in tiny_corpus(200):
            read += 1
            most = max(most, read - finished)
            yield example

    def note(rows):
        nonlocal finished
        finished = rows

    explain_all(model, probe(), tmp_path / "out.jsonl", settings(), note)
    assert (read, finished) == (200, 200)
    assert most <= 7


def test_an_ending_that_names_no_format_is_refused(model, tmp_path):
    with pytest.raises(ConfigError, match=r"unknown ending '\.txt'\. Expected \.jsonl, \.csv, \.parquet"):
        explain_all(model, EXAMPLES, tmp_path / "out.txt", settings())
    assert not list(tmp_path.iterdir())


def test_a_tool_gets_no_id_twice_and_that_is_seen_when_it_is_read(model, tmp_path):
    read = []

    def repeat():
        for example in [*EXAMPLES[:8], EXAMPLES[2], *EXAMPLES[8:]]:
            read.append(example.id)
            yield example

    with pytest.raises(DataError, match=f"{EXAMPLES[2].id!r}: this id occurs twice"):
        explain_all(model, repeat(), tmp_path / "tasks.json", settings(to="label_studio"))
    assert len(read) == 9


def test_nothing_is_replaced_and_settings_are_refused_before_work(model, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("x")
    with pytest.raises(ConfigError, match="out: exists"):
        explain_all(model, iter(()), tmp_path / "out", settings())
    with pytest.raises(ConfigError, match="decides its format"):
        explain_all(model, iter(()), tmp_path / "out.csv", settings(format="parquet"))
    with pytest.raises(ConfigError, match="workers: saw 0"):
        CorpusSettings(workers=0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["un_rat", "semi_rat", "ssr_virt", "st_rat"])
def test_several_processes_give_the_same_file_and_share_the_weights(tmp_path, method):
    model = tiny_model(method)
    explain_all(model, EXAMPLES, tmp_path / "one.jsonl", settings())
    explain_all(model, EXAMPLES, tmp_path / "two.jsonl", settings(workers=2))
    assert (tmp_path / "two.jsonl").read_bytes() == (tmp_path / "one.jsonl").read_bytes()
    assert all(tensor.is_shared() for tensor in model.method.parameters())
