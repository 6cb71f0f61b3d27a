"""Artifacts that runs have in common: made once, named by what they were made from, dispensable."""

from __future__ import annotations

import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from runs_helpers import interrupt, run, small_config, small_data, tree

from helpers import add_slow, tiny_run
from rationalize.files import read_json
from rationalize.locks import wait_for_lock
from rationalize.runs._artifact_cache import find_cache, make_key

FREE = {"run.json", "config.resolved.yaml"}  # where the cache lies is written there


def config(cache, method="ssr_unif", **changes):
    training = {"warm_start": 1, "cache": str(cache), **changes.pop("training", {})}
    return small_config(method, training=training, **changes)


def files(folder):
    return {name: digest for name, digest in tree(folder).items() if name not in FREE}


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A cache as one run has left it, that run, and what was shown."""
    folder = tmp_path_factory.mktemp("cache")
    return folder / "cache", folder / "run", run(config(folder / "cache"), folder / "run")


@pytest.fixture
def cache(filled, tmp_path):
    """A copy of it, to be changed."""
    return shutil.copytree(filled[0], tmp_path / "cache")


def trained(said):
    return [message.split()[-2] for message in said.messages if message.endswith(" first")]


def test_a_second_run_trains_no_artifact_again_and_ends_the_same(filled, cache, tmp_path):
    assert trained(filled[2]) == ["full_text", "un_rat"]
    said = run(config(cache), tmp_path / "run")
    assert trained(said) == []
    assert "warm start: reused from cache" in said.messages
    assert "shortcuts: reused from cache" in said.messages
    assert files(tmp_path / "run") == files(filled[1])


def test_the_cache_changes_nothing_that_is_computed(filled, tmp_path):
    run(config("off"), tmp_path / "run")
    alone, shared = tree(tmp_path / "run"), tree(filled[1])
    same = [name for name in shared if name.startswith("model/") or name.endswith(".jsonl")]
    assert {name: alone[name] for name in same} == {name: shared[name] for name in same}
    assert "artifacts/shortcuts.jsonl" in same


def test_a_run_says_what_it_used_and_goes_on_without_it(filled, cache, tmp_path):
    """The same bits are made again of what is gone; shortcuts are in the run's own folder."""
    used = read_json(filled[1] / "artifacts" / "cached.json")
    assert used.keys() == {"warm_start", "shortcuts"}
    there = {path.name for path in filled[0].glob("[!.]*")}
    assert set(used.values()) < there
    assert {name.split("-")[0] for name in there} == {"warm", "shortcuts", "un_rat"}
    interrupt(config(cache), tmp_path / "run", 7)
    shutil.rmtree(cache)
    said = run(config(cache), tmp_path / "run", resume=True)
    assert trained(said) == ["full_text"]
    assert files(tmp_path / "run") == files(filled[1])


def test_a_finished_run_needs_no_cache(filled, tmp_path):
    folder = shutil.copytree(filled[1], tmp_path / "run")
    run(config(tmp_path / "empty"), folder, resume=True)
    assert not (tmp_path / "empty").exists()


def test_a_damaged_entry_is_made_again_aloud(filled, cache, tmp_path):
    [weights] = cache.glob("warm-*/model/model.safetensors")
    weights.write_bytes(weights.read_bytes()[:-1])
    said = run(config(cache), tmp_path / "run")
    assert [message for message in said.messages if "is damaged and was removed" in message]
    assert trained(said) == ["full_text"]
    assert files(tmp_path / "run") == files(filled[1])


def test_no_entry_is_larger_than_its_models(filled):
    assert not list(filled[0].rglob("checkpoints"))


CHANGES = [({"data": {"gold_share": 0.5}}, ["un_rat"])]
MORE_CHANGES = [
    ({"method": "ssr_virt"}, []),
    ({"training": {"learning_rate": 1e-3}}, ["full_text", "un_rat"]),
    ({"augment": {"kind": "semantic"}}, []),
    ({"shortcuts": {"uniform_weight": 0.5}}, []),
    ({"training": {"keep": "all", "checkpoint_every": 3}}, []),
    ({"shortcuts": {"min_run": 2}}, []),
    ({"encoder": {"hidden_size": 8}}, ["full_text", "un_rat"]),
    ({"shortcuts": {"epochs": 2}}, ["un_rat"]),
    ({"shortcuts": {"rounds": 2}}, []),
    ({"method": "invrat", "augment": {"kind": "none"}}, ["un_rat"]),
]


@pytest.mark.parametrize(("changes", "again"), add_slow(CHANGES, MORE_CHANGES))
def test_what_depends_on_a_change_is_made_anew_and_nothing_else(cache, tmp_path, changes, again):
    assert trained(run(config(cache, **changes), tmp_path / "run")) == again


def test_a_key_is_of_data_settings_versions_and_device(monkeypatch):
    chosen = tiny_run("un_rat", device="cpu")
    data = small_data(chosen)
    key = make_key(chosen, data, {"a": 1})
    assert make_key(chosen, data, {"a": 1}) == key
    others = [
        make_key(chosen, data, {"a": 2}),
        make_key(chosen, small_data(tiny_run("semi_rat")), {"a": 1}),
    ]
    monkeypatch.setattr("rationalize.runs._artifact_cache.__version__", "9.9")
    others.append(make_key(chosen, data, {"a": 1}))
    assert len({key, *others}) == 4


@pytest.mark.parametrize(
    ("setting", "variable", "found"),
    [
        ("off", "/a", None),
        ("/b", "/a", Path("/b")),
        ("auto", "/a", Path("/a")),
        ("auto", "off", None),
        ("auto", None, Path("/home/me/.cache/rationalize")),
    ],
)
def test_where_the_cache_is(monkeypatch, setting, variable, found):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", "/home/me/.cache")
    monkeypatch.delenv("RATIONALIZE_CACHE", raising=False)
    if variable:
        monkeypatch.setenv("RATIONALIZE_CACHE", variable)
    assert find_cache(setting) == found


def test_another_run_waits_for_who_is_making_it(cache, tmp_path):
    """It begins while the entry is held, and uses it once it is let go."""
    [entry] = cache.glob("warm-*")
    with ThreadPoolExecutor(1) as pool:
        with wait_for_lock(cache / f".{entry.name}.lock"):
            other = pool.submit(run, config(cache), tmp_path / "run")
            until = time.monotonic() + 60
            while not (tmp_path / "run" / "artifacts" / "cached.json").is_file():
                assert time.monotonic() < until
                time.sleep(0.05)
            time.sleep(0.5)
            assert not (tmp_path / "run" / "metrics.jsonl").exists()
        said = other.result(timeout=120)
    assert "warm start: reused from cache" in said.messages
