"""Explaining into a folder in a store: parts that are there are not made again, refusals come before work."""

from __future__ import annotations

import json
from itertools import islice

import pytest

from helpers import tiny_corpus
from rationalize.corpus.bad_rows import BadRowFile
from rationalize.corpus.corpus_settings import CorpusSettings
from rationalize.corpus.explain_corpus import explain_all
from rationalize.data import _remote_files
from rationalize.data.findings import Problem
from rationalize.data.remote_folder import RemoteFolder
from rationalize.errors import ConfigError, DataError, RationalizeError

EXAMPLES = tiny_corpus(30)
OUT = "memory://bucket/explained"
PARTS = [f"part-0000{number}.jsonl" for number in range(1, 6)]


@pytest.fixture
def store():
    """An empty store in memory."""
    fsspec = pytest.importorskip("fsspec")
    system = fsspec.filesystem("memory")
    system.store.clear()
    system.pseudo_dirs[:] = [""]
    yield RemoteFolder(OUT)
    system.store.clear()


def settings(**given):
    return CorpusSettings(chunk_rows=7, **given)


def break_off(examples, after):
    yield from islice(examples, after)
    raise KeyboardInterrupt


def refuse(examples):
    raise AssertionError("read before it was refused")
    yield


def test_a_folder_in_a_store_has_the_parts_of_one_on_this_machine(model, store, tmp_path):
    done = explain_all(model, EXAMPLES, OUT, settings())
    explain_all(model, EXAMPLES, tmp_path / "out", settings())
    assert (done.out, done.rows, done.parts, done.found) == (OUT, 30, 5, 0)
    assert sorted(store.list_names()) == PARTS
    assert all(store.read(name) == (tmp_path / "out" / name).read_bytes() for name in PARTS)
    assert explain_all(model, refuse(EXAMPLES), OUT, settings(resume=True)).parts == 0
    with pytest.raises(ConfigError, match=f"{OUT}: exists"):
        explain_all(model, refuse(EXAMPLES), OUT, settings())


def test_parts_in_the_store_are_not_made_again(model, store, monkeypatch):
    with pytest.raises(KeyboardInterrupt):
        explain_all(model, break_off(EXAMPLES, 20), OUT, settings())
    assert {"part-00001.jsonl", "part-00002.jsonl"} == {
        name for name in store.list_names() if "/" not in name
    }
    with pytest.raises(ConfigError, match=r"interrupted\. Resume it"):
        explain_all(model, refuse(EXAMPLES), OUT, settings())
    with pytest.raises(ConfigError, match=r"made in another way \(truncate: False then, True now\)"):
        explain_all(model, refuse(EXAMPLES), OUT, settings(resume=True, truncate=True))
    sent = []
    put = RemoteFolder.put
    monkeypatch.setattr(
        RemoteFolder, "put", lambda own, path, name: (sent.append(name), put(own, path, name))
    )
    done = explain_all(model, EXAMPLES, OUT, settings(resume=True))
    assert (done.rows, done.parts, done.found) == (30, 5, 2)
    assert sent == PARTS[2:]
    assert sorted(store.list_names()) == PARTS
    rows = [json.loads(line) for name in PARTS for line in store.read(name).splitlines()]
    assert [row["id"] for row in rows] == [example.id for example in EXAMPLES]


def test_a_part_that_was_cut_off_on_its_way_is_made_again(model, store, monkeypatch):
    put = RemoteFolder.put

    def cut(own, path, name):
        if name == PARTS[1]:
            own.write(name, path.read_bytes()[:10])
            raise ConfigError("the line is down")
        put(own, path, name)

    monkeypatch.setattr(RemoteFolder, "put", cut)
    with pytest.raises(ConfigError, match="the line is down"):
        explain_all(model, EXAMPLES, OUT, settings())
    monkeypatch.setattr(RemoteFolder, "put", put)
    assert explain_all(model, EXAMPLES, OUT, settings(resume=True)).found == 1
    assert len(store.read(PARTS[1]).splitlines()) == 7


def test_a_shorter_input_leaves_no_part_of_the_longer_one(model, store):
    with pytest.raises(KeyboardInterrupt):
        explain_all(model, break_off(EXAMPLES, 28), OUT, settings())
    explain_all(model, EXAMPLES[:14], OUT, settings(resume=True))
    assert sorted(store.list_names()) == PARTS[:2]


def test_nothing_is_left_behind_if_no_part_was_finished(model, store):
    with pytest.raises(KeyboardInterrupt):
        explain_all(model, break_off(EXAMPLES, 3), OUT, settings())
    assert store.list_names() == set()


@pytest.mark.parametrize(
    ("out", "given", "message"),
    [
        (f"{OUT}.jsonl", {}, "a folder of parts is written, not a file"),
        (f"{OUT}.json", {"to": "label_studio"}, "made of all parts, on this machine"),
        ("ftp://host/explained", {}, r"addresses of ftp:// cannot be written\. Expected file://, s3://"),
    ],
)
def test_what_cannot_be_in_a_store_is_refused_before_work(model, store, out, given, message):
    with pytest.raises(RationalizeError, match=message):
        explain_all(model, refuse(EXAMPLES), out, settings(**given))


def test_a_missing_package_and_a_store_that_refuses_are_said_before_work(model, store, monkeypatch):
    def forbid(*args, **kwargs):
        raise PermissionError("read only")

    monkeypatch.setattr(type(store._system), "pipe_file", forbid)
    with pytest.raises(ConfigError, match=f"{OUT}: cannot be written: PermissionError: read only"):
        explain_all(model, refuse(EXAMPLES), OUT, settings())
    monkeypatch.setitem(_remote_files.PACKAGES, "memory", ("no_such_package_here", "pip install it"))
    with pytest.raises(
        DataError, match="memory:// is written with no_such_package_here, which is not installed"
    ):
        explain_all(model, refuse(EXAMPLES), OUT, settings())


def test_bad_rows_are_beside_the_output(store):
    bad = BadRowFile(OUT)
    bad.add(Problem("error", "no text", "posts.csv:3", "text", "nothing", "a text"))
    bad.finish()
    assert bad.path == "memory://bucket/explained.errors.jsonl"
    row = json.loads(RemoteFolder("memory://bucket").read("explained.errors.jsonl"))
    assert row["place"] == "posts.csv:3"
